"""The node `ddm_simulator`: a simulated robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_id.control.runtime.simulated_robot import SimulatedRobot
from robot_id.control.tuning import loop_setting
from robot_id.data.joint_order import JointMatcher, joint_order
from robot_id.dynamics.simulation.disturbances import Disturbances
from robot_id.dynamics.simulation.pacer import Pacer
from robot_id.exceptions import (
    DataError,
    OptionError,
    SimulationError,
    did_you_mean,
)
from robot_id.methods.parameters import load_for_robot
from robot_id.nodes.ddm_parameters import TABLE
from robot_id.ros.base import end, run
from robot_id.ros.diagnostics import ERROR, OK, WARN, LatencyMeter, RateMeter, Report
from robot_id.ros.durations import to_stamp
from robot_id.ros.effort_commands import CommandReader
from robot_id.ros.lifecycle import RobotLifecycleNode
from robot_id.ros.messages import WrongState
from robot_id.ros.payload_message import payload_of
from robot_id.ros.qos import LOCK_STEP, STREAM
from robot_id.ros.wire import EFFORTS, POINT, STATE, Layout
from robot_id_msgs.srv import ResetSimulation, SetPayload

# In lock-step a state without an answer is sent again: when a subscriber has connected, otherwise
# after this many checks, in case an answer was lost during discovery.
REPEAT_S, PATIENCE = 0.25, 8


class DdmSimulator(RobotLifecycleNode):
    """
    Integrates the direct dynamic model, with the topics of a robot driver.

    With `use_sim_time` it owns the clock: its stamps start at zero and it publishes /clock.
    """

    def __init__(self) -> None:
        super().__init__('ddm_simulator', TABLE)
        # The owner of the clock does not listen to it.
        self._owns_clock = bool(self.get_parameter('use_sim_time').value)
        if self._owns_clock:
            self.set_parameters([Parameter('use_sim_time', value=False)])
        self._simulated: SimulatedRobot | None = None
        self._ticker: Any = None
        self._clocks: Any = None
        # Sample, subscribers and number of checks without a change, at the last check.
        self._seen = -1, 0, 0

    def configure(self) -> None:
        """Build the simulated robot and its topics."""
        s = self.settings
        robot = self.robot_setting()
        self._closed = s['mode'] == 'closed_loop'
        loop = loop_setting(robot, s['loop'])
        rate = s['rate_hz'] or (loop.rate_hz if self._closed else 1000.0)
        path = s['parameters']
        if path:
            robot, truth, _ = load_for_robot(robot, path)
        else:
            truth = robot.truth()
        noise = Disturbances.of_robot(robot, s['seed']) if s['noise'] else Disturbances()
        self._commands = CommandReader(
            robot.joint_names, joint_order(robot.joint_names, s['joints'], 'joints')
        )
        self._start = np.array(s['initial_position'] or np.zeros(robot.n), float)
        if self._start.shape != (robot.n,):
            raise OptionError(
                f'parameter initial_position: {self._start.size} values for {robot.n} joints'
            )
        simulated = SimulatedRobot(
            robot, truth, loop, rate, noise, s['command_timeout_s'], s['on_stale'] == 'hold'
        )
        # Everything is compiled before the first real sample.
        for advance in (simulated.advance_by_command, lambda: simulated.advance_by_reference(0)):
            advance()
        simulated.reset(self._start, np.zeros(robot.n))
        self._simulated, self._rate, self._lock_step = simulated, rate, s['lock_step']
        self._period_ns = 1e9 / rate
        self._clock_every = max(round(rate / s['clock_rate_hz']), 1) if s['clock_rate_hz'] else 1
        self._rate_meter, self._latency = RateMeter(), LatencyMeter()
        self.refused, self.last_refusal = 0, ''
        self._failed, self._stops, self._zero_ns = '', 0, 0
        zeros = [0.0] * robot.n
        self._layout = Layout(
            JointState(name=list(robot.joint_names), position=zeros, velocity=zeros, effort=zeros),
            STATE,
        )
        self._clock_message = ClockMessage()
        self._make_topics()
        self.diagnostics.add('simulation', self._report)

    def _make_topics(self) -> None:
        qos = LOCK_STEP if self._lock_step else STREAM
        self._states = self.publisher(JointState, 'joint_states', qos)
        self._clocks = None
        if self._owns_clock:
            others = self.count_publishers('/clock')
            if others:
                self.warning('another node already publishes /clock', publishers=others)
            self._clocks = self.publisher(ClockMessage, '/clock', qos)
        if self._closed:
            self._heard = self.listen(JointTrajectory, 'reference', self._on_reference, POINT)
        else:
            self._heard = self.listen(
                Float64MultiArray, 'effort_commands', self._on_command, EFFORTS
            )
        self.serve(ResetSimulation, '~/reset', self._reset)
        self.serve(SetPayload, '~/set_payload', self._set_payload)

    def activate(self) -> None:
        """Start the time."""
        rate = self._rate * self.settings['real_time_factor']
        self.ask_for_real_time()
        self._pacer = Pacer(rate)
        self._begin(self._start, np.zeros(len(self._start)))
        if self._lock_step:
            self._ticker = self.create_timer(REPEAT_S, self._repeat, clock=self.steady)
        else:
            self._ticker = self.create_timer(1.0 / rate, self._tick, clock=self.steady)

    def deactivate(self) -> None:
        """Stop the time."""
        self.destroy_timer(self._ticker)

    def cleanup(self) -> None:
        """Release the robot."""
        self._simulated = self._clocks = None

    @property
    def _robot(self) -> SimulatedRobot:
        if self._simulated is None:
            raise WrongState('the simulator is not configured')
        return self._simulated

    def _begin(self, position: Any, velocity: Any) -> None:
        """Put robot and time to the start and publish the first state."""
        self._robot.reset(position, velocity)
        self._failed = ''
        self._zero_ns = 0 if self._owns_clock else self.get_clock().now().nanoseconds
        self._pacer.restart()
        self._publish()

    @property
    def _now(self) -> int:
        """Stamp of the present sample in ns."""
        return self._zero_ns + round(self._robot.sample * self._period_ns)

    def _tick(self) -> None:
        if self._failed:
            return
        for _ in range(self._pacer.due()):
            self._advance()

    def _advance(self) -> None:
        robot = self._robot
        was_stale = robot.stale
        try:
            if self._closed:
                robot.advance_by_reference(self._now)
            else:
                robot.advance_by_command()
        except SimulationError as error:
            self._failed = str(error)
            self.failure(f'{error}; the simulation is stopped until ~/reset')
            return
        if robot.stale and not was_stale:
            self._stops += 1
            what = 'reference' if self._closed else 'command'
            self.warning(f'{what} is stale: safe stop', on_stale=self.settings['on_stale'])
        self._rate_meter.tick()
        self._publish()

    def _publish(self) -> None:
        robot = self._robot
        self._latency.ask()
        self._states.publish(
            self._layout.write(self._now, robot.plant.measured, robot.speed(), robot.effort)
        )
        if self._clocks is not None and robot.sample % self._clock_every == 0:
            self._clock_message.clock = to_stamp(self._now)
            self._clocks.publish(self._clock_message)

    def _repeat(self) -> None:
        """Repeat a state without an answer: soon to new subscribers, to others now and then."""
        around = self._states.get_subscription_count() + self._heard.publishers
        waits = self._robot.sample == self._seen[0] and not self._failed
        patience = self._seen[2] + 1 if waits else 0
        if waits and (around != self._seen[1] or patience >= PATIENCE):
            self._publish()
            patience = 0
        self._seen = self._robot.sample, around, patience

    def _on_command(self, message: Float64MultiArray) -> None:
        robot = self._simulated
        if not self.active or robot is None or self._failed:
            return
        try:
            torque, stamp = self._commands.read(message)
        except DataError as error:
            self.refuse('effort command', error)
            return
        self._latency.answer()
        if self._lock_step:
            if stamp is not None and abs(stamp - self._now) > 0.5 * self._period_ns:
                return
            robot.command(torque)
            self._advance()
        else:
            robot.command(torque)

    def _on_reference(self, message: JointTrajectory) -> None:
        robot = self._simulated
        if not self.active or robot is None or self._failed:
            return
        try:
            robot.references.take(message)
        except DataError as error:
            self.refuse('reference', error)
            return
        while (
            self._lock_step and not self._failed and robot.references.exact(self._now) is not None
        ):
            self._advance()

    def _reset(self, request: ResetSimulation.Request, _: ResetSimulation.Response) -> None:
        if not self.active:
            raise WrongState('the simulator is not active')
        names = self._robot.robot.joint_names
        state = np.zeros((2, len(names)))
        for name in request.joint_names:
            if name not in names:
                raise DataError(
                    f"the robot has no joint '{name}', {did_you_mean(name, names)}", joint=name
                )
        matcher = JointMatcher(request.joint_names)
        matcher.match(request.joint_names)
        at = [names.index(name) for name in request.joint_names]
        state[0, at] = matcher.take(request.positions)
        if len(request.velocities):
            state[1, at] = matcher.take(request.velocities, 'velocity')
        self._begin(state[0], state[1])
        self.event('reset', joints=','.join(request.joint_names) or 'all to zero')

    def _set_payload(self, request: SetPayload.Request, _: SetPayload.Response) -> None:
        payload, joint = payload_of(self._robot.robot, request.inertia, request.link)
        self._robot.set_payload(payload, joint)
        self.event('payload', mass=request.inertia.m, link=request.link or 'last')

    def _report(self) -> Report:
        robot = self._robot
        values: dict[str, Any] = {
            'sample': robot.sample,
            **self._rate_meter.take(),
            **self._latency.take(),
            **self.process_values(),
            'refused': self.refused,
            'last_refusal': self.last_refusal,
            'safe_stops': self._stops,
            'repeated_commands': robot.repeated,
            'slips': self._pacer.slips if self.active else 0,
            'payload': bool(np.any(robot.plant.parameters != robot.bare)),
        }
        if self._failed:
            return ERROR, self._failed, values
        if not self.active:
            return OK, 'inactive', values
        if robot.stale and robot.sample and not self._lock_step:
            what = 'reference' if self._closed else 'command'
            return WARN, f'no fresh {what}: safe stop', values
        wanted = self._rate * self.settings['real_time_factor']
        if not self._lock_step and 0.0 < values['rate_hz'] < 0.95 * wanted:
            return WARN, f'slower than real time ({values["rate_hz"]:.4g} Hz)', values
        return OK, 'running', values


def main() -> None:
    """Run the node until Ctrl-C."""
    end(run(DdmSimulator))
