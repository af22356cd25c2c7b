"""The node `ctc_controller`: computed torque control that learns its model (ILIC)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_id.control import ComputedTorque, Ilic
from robot_id.control.learning.beside_loop import LearnerProcess, Learning
from robot_id.control.learning.options import IlicOptions
from robot_id.control.runtime.compensation import Compensation
from robot_id.control.runtime.torque_control import Mode
from robot_id.control.tuning import loop_setting
from robot_id.data.cleaning.stamps import SECOND, Order, RateWatch
from robot_id.data.joint_order import joint_order
from robot_id.exceptions import DataError, shorten
from robot_id.nodes.ctc_commission import CommissionAction
from robot_id.nodes.ctc_model import ControllerModel
from robot_id.nodes.ctc_parameters import LEARNER, TABLE
from robot_id.nodes.ctc_supervision import Supervision, supervised
from robot_id.ros.base import end, run
from robot_id.ros.diagnostics import ERROR, OK, WARN, RateMeter, Report
from robot_id.ros.effort_commands import CommandWriter
from robot_id.ros.joint_states import Follower
from robot_id.ros.lifecycle import RobotLifecycleNode
from robot_id.ros.model_request import start_values
from robot_id.ros.option_rows import values_of
from robot_id.ros.qos import LOCK_STEP, STREAM
from robot_id.ros.sole_publisher import SoleSender
from robot_id.ros.wire import POINT

Array = NDArray[np.float64]
COMMANDS = 'effort_commands'
# Time for which a second controller listens to the first.
LISTEN_S = 0.5


class CtcController(RobotLifecycleNode):
    """
    Answers every joint state with torques; zero torque when the measurements stop.

    :param follower: called with stamp and position after each answer: a generator in the same
        process, which gives its points to `take_point`; then no topic is heard for the reference.
    """

    def __init__(self, follower: Follower | None = None) -> None:
        self._follower = follower
        super().__init__('ctc_controller', TABLE)
        self._configured = False

    def configure(self) -> None:
        """Build the controller, the learner and their topics."""
        s = self.settings
        robot = self.robot_setting()
        loop = loop_setting(robot, s['loop'])
        if s['rate_hz']:
            loop = loop.model_copy(update={'rate_hz': s['rate_hz']})
        robot, start, method = start_values(robot, s['parameters'], s['accept_caution'])
        controller = ComputedTorque(
            robot, start, loop, measured=s['measured'], integral=s['integral'],
            torque_limit=s['torque_limit'] or None, blend_s=s['blend_s'],
        )  # fmt: skip
        consistent = controller.check_inertia(physical=s['physical'])
        driver = self._driver = self.driver_setting(robot)
        self._carried = Compensation(robot, driver.compensated)
        order = joint_order(driver.names, s['joints'], 'joints')
        self._lock_step = s['lock_step']
        self._robot = robot
        self._control = supervised(controller, s, 'gravity' in driver.compensated)
        options = {
            'parameters': controller.target,
            'rate_hz': loop.rate_hz,
            'torque_limit': controller.settings.limit,
            **values_of(IlicOptions, s, only=LEARNER),
        }
        self._learning = Learning(
            Ilic(robot, **options),
            None if self._lock_step else LearnerProcess(robot, options),
        )
        self._configured = True
        self._period_ns = round(1e9 / loop.rate_hz)
        self._writer = CommandWriter(driver.names, order, self._lock_step, driver.command)
        self._meter = RateMeter()
        self.refused, self.last_refusal, self._trips, self._saturated = 0, '', 0, 0
        self._pending: tuple[int, Array] | None = None
        self._answered: tuple[int, Array] | None = None
        self._rate_watch = RateWatch(1e9 / self._period_ns)
        self._stale = True
        self._make_topics()
        self._supervision = Supervision(self, self._control, self._learning)
        self._commission = CommissionAction(self, self._control)
        learns = s['learning'] and not s['dry_run']
        self._model = ControllerModel(
            self, self._control, self._learning, method,
            learns=learns, consistent=consistent, moves=lambda: self.active and not self._stale,
        )  # fmt: skip
        self.diagnostics.add('control', self._report)

    def _make_topics(self) -> None:
        qos = LOCK_STEP if self._lock_step else STREAM
        self._dry_run = self.settings['dry_run']
        self._topic = self._driver.topics.effort_commands or COMMANDS
        topic = '~/dry_run_commands' if self._dry_run else self._topic
        self._efforts = self.publisher(Float64MultiArray, topic, qos)
        self._alone = None
        if not self._dry_run:
            alone = SoleSender(
                self, Float64MultiArray, self._efforts.topic_name, self._yield_control
            )
            self._alone = self.track(SoleSender.close, alone)
        self._states = self.listen_to_robot(self._driver, self._on_position, self._period_ns)
        if self._follower is None:
            self.listen(JointTrajectory, 'reference', self._on_reference, POINT)
        else:
            self._states.followers.append(self._follower)

    def activate(self) -> None:
        """Start to answer joint states, unless another controller does."""
        if self._alone is not None:
            self._alone.begin(max(LISTEN_S, self.settings['state_timeout_s']))
        self._supervision.begin()
        self._states.watch.clear()
        self._answered = None
        self._rate_watch.clear()
        self._stale, self._silent = True, False
        # By a steady clock: the simulated clock stops with a dead simulator.
        self._timeout_s = self.settings['state_timeout_s']
        self._heard = time.monotonic()
        self.ask_for_real_time()
        self._watchdog = self.create_timer(self._timeout_s / 2.0, self._check, clock=self.steady)
        self._answer_pending()

    def _yield_control(self, other: str) -> None:
        """Leave the robot to a controller that was there before, without a command."""
        if not self.active:
            return
        self.failure(
            f'the robot has a controller already: {shorten(other)} sends commands; this one stops'
        )
        self._silent = True
        self.trigger_deactivate()

    def deactivate(self) -> None:
        """Send zero torque."""
        self.destroy_timer(self._watchdog)
        self._commission.end()
        if not self._silent:
            self._send_zero()
        if self._alone is not None:
            self._alone.end()

    def close(self) -> None:
        """Send zero torque and stop the learner."""
        super().close()
        if self.configured:
            self._model.close()
        self.cleanup()

    def cleanup(self) -> None:
        """End the learner."""
        if self._configured:
            self._configured = False
            self._learning.close()

    def _on_position(self, ns: int, order: Order, position: Array) -> None:
        # In lock-step the robot waits for the answer to this very state: keep it.
        if not (self.active or self._lock_step):
            return
        if order is Order.RESTART:
            self.event('time was reset')
            self._control.pause()
            self._control.references.forget_beyond(ns + SECOND)
            self._learning.ilic.clear()
            self._pending = self._answered = None
        elif order is Order.DUPLICATE:
            if self._answered is not None and self._answered[0] == ns and self._lock_step:
                self._efforts.publish(self._writer.write(self._answered[1], ns))
            return
        elif order is Order.LATE:
            return
        if self._lock_step:
            self._pending = ns, position
            self._answer_pending()
        else:
            self._answer(ns, position)

    def _on_reference(self, message: JointTrajectory) -> None:
        if not (self.active or self._lock_step):
            return
        try:
            self._control.references.take(message)
        except DataError as error:
            self.refuse('reference', error)
            return
        if self._lock_step:
            self._answer_pending()

    def take_point(self, ns: int, point: Array) -> None:
        """Take in a point (3, n) of the reference from a generator in the same process."""
        if self._configured and (self.active or self._lock_step):
            self._control.references.put(ns, point)
            if self._lock_step:
                self._answer_pending()

    def _answer_pending(self) -> None:
        if self._pending is not None and self.active:
            ns, position = self._pending
            if self._control.references.exact(ns) is not None:
                self._pending = None
                self._answer(ns, position)

    def _answer(self, ns: int, position: Array) -> None:
        control, learning = self._control, self._learning
        self._heard, self._stale = time.monotonic(), False
        self._meter.tick()
        self._rate_watch.tick()
        if not self._supervision.admits(ns):
            return
        before = control.mode
        # In lock-step the differences of the positions are exact.
        velocity = None if self._lock_step else self._states.velocity
        command = control.step(ns, position, velocity)
        torque = command.torque
        if torque.any():
            # Zero stays zero: a robot that carries itself is left to itself.
            torque = torque - self._carried(
                control.controller.parameters, position, command.point[1]
            )
        self._efforts.publish(self._writer.write(torque, ns))
        self._answered = ns, torque
        self._saturated += bool(control.controller.saturated().any())
        if control.mode is not before:
            self._supervision.changed(before)
            self._model.publish_status(ns)
        self._model.work(command)
        self._commission.feed(command, position)
        if self._dry_run or control.stopped:
            return
        update = learning.feed(command)
        if update is not None:
            self._model.learned(update, ns)

    def _check(self) -> None:
        """Watchdog: no joint state for too long."""
        if self._lock_step or not self.active:
            return
        if time.monotonic() - self._heard < self._timeout_s:
            return
        if not self._stale:
            self._stale = True
            self._trips += 1
            self._control.pause()
            self._learning.ilic.clear()
            self._model.publish_status()
            self.warning('no valid joint state: zero torque', timeout_s=self._timeout_s)
        self._send_zero()

    def _send_zero(self) -> None:
        if not self._lock_step:
            ns = self._answered[0] if self._answered else 0
            self._efforts.publish(self._writer.write(np.zeros(self._robot.n), ns))

    def _report(self) -> Report:
        control = self._control
        values: dict[str, Any] = {
            'mode': control.mode.name.lower(),
            'dry_run': self._dry_run,
            'other_controllers': self.count_publishers(self._topic) - (not self._dry_run),
            **self._meter.take(),
            **self.process_values(),
            **self._states.watch.counts(),
            'refused': self.refused,
            'last_refusal': self.last_refusal,
            'watchdog_trips': self._trips,
            'saturated_samples': self._saturated,
        }
        for name, error in zip(self._robot.joint_names, control.peak_error):
            values[f'peak_error_{name}'] = float(error)
        values |= self._supervision.values()
        control.peak_error[:] = 0.0
        if not self.active:
            return OK, 'inactive', values
        if control.trip is not None:
            return ERROR, control.reason, values
        wrong_rate = '' if self._lock_step else self._rate_watch.warning(self._states.watch.last)
        if self._stale and not self._lock_step:
            return ERROR if self._trips else WARN, 'no valid joint states: zero torque', values
        doing = f'dry run, {control.mode.value}' if self._dry_run else control.mode.value
        if control.reason or wrong_rate or control.mode is Mode.BRAKING:
            return WARN, control.reason or wrong_rate or doing, values
        return OK, doing, values


def main() -> None:
    """Run the node until Ctrl-C."""
    end(run(CtcController))
