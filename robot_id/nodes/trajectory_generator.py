"""The node `trajectory_generator`: plays a trajectory as a reference, cycle after cycle."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_id.data.cleaning.stamps import SECOND, Order
from robot_id.exceptions import RobotIdError
from robot_id.ros.base import NodeBase, end, run
from robot_id.ros.diagnostics import OK, WARN, RateMeter, Report
from robot_id.ros.durations import to_stamp
from robot_id.ros.joint_states import JointStates
from robot_id.ros.messages import WrongState
from robot_id.ros.parameter_table import MAPPING, REAL_TIME_PRIORITY, ROBOT, Row
from robot_id.ros.qos import LATCHED, LOCK_STEP, SERVICE, STREAM
from robot_id.ros.wire import POINT, Layout
from robot_id.trajectory.default import motion_of
from robot_id.trajectory.reference_generator import ReferenceGenerator

Array = NDArray[np.float64]
# After a pause in the joint states no more than this is caught up.
MOST_AT_ONCE = 20
# Points that are computed at once.
BLOCK = 20
# rad or m between a held reference and the robot.
NEAR = 0.05

TABLE = (
    ROBOT,
    MAPPING,
    Row('trajectory', '', "Motion: a standard one, 'random', or a file (.yaml, .json, .csv, a "
        "bag); empty: the robot file's."),
    Row('seconds', 0.0, 'Duration of a random trajectory [s]; 0: 10 s.', 0.0, 3600.0),
    Row('seed', 0, 'Seed of a random trajectory.', 0, 2**31 - 1),
    Row('cycles', 0, 'Number of repetitions; 0: until ~/stop.', 0, 1_000_000),
    Row('rate_hz', 0.0, 'Rate of the reference points [Hz]; 0: 1000 Hz.', 0.0, 1e5),
    Row('lead', 4, 'Number of points sent ahead of time.', 0, 8),
    Row('pace', 'states', "Time base: the stamps of joint_states, or the node's clock.",
        choices=('states', 'clock')),
    Row('approach_share', 0.3, 'Fraction of the velocity and acceleration limits used on the '
        'approach to the start of the motion.', 0.01, 1.0),
    Row('approach_tolerance', 1e-4, 'No approach move if the robot is this close to the start '
        '[rad or m].', 0.0, 0.1),
    Row('lock_step', False, 'The robot is a simulator in lock-step: keep a longer history for '
        'slow subscribers.'),
    Row('start_motion', False, 'Move at the first joint state, without a call of ~/start.'),
    REAL_TIME_PRIORITY,
)  # fmt: skip


class TrajectoryGenerator(NodeBase, Node):
    """
    Publishes one point of the reference per sample, stamped with the time it is meant for.

    :param listens: False takes positions from a controller in the same process, by `states.take`.
    :ivar on_point: called with the stamp and the point (3, n) of what is published.
    """

    def __init__(self, listens: bool = True) -> None:
        super().__init__('trajectory_generator')
        self.prepare(TABLE)
        self._robot = self.robot_setting()
        self._generator: ReferenceGenerator | None = None
        self._meter = RateMeter()
        self._position: Array | None = None
        self._wanted = self.settings['start_motion']
        self._clocked = self.settings['pace'] == 'clock'
        self._period_ns = 1e9 / (self.settings['rate_hz'] or 1000.0)
        self._lead = self.settings['lead']
        self._zero, self._count, self._announced = 0, 0, False
        self._ahead: dict[int, Array] = {}
        zeros = [0.0] * self._robot.n
        point = JointTrajectoryPoint(positions=zeros, velocities=zeros, accelerations=zeros)
        message = JointTrajectory(joint_names=list(self._robot.joint_names), points=[point])
        self._layout = Layout(message, POINT)
        qos = STREAM
        if self.settings['lock_step']:
            qos = LOCK_STEP
            # It works ahead of the loop: with few cores, robot and controller have priority.
            if listens:
                os.nice(10)
        self._publisher = self.create_publisher(JointTrajectory, 'reference', qos)
        # When the motion itself begins, after the approach; without a name none is played.
        self._starts = self.create_publisher(Header, '~/motion_start', LATCHED)
        self.on_point: Callable[[int, Array], None] | None = None
        self.states = JointStates(
            self, self.driver_setting(self._robot), self._on_position, listens=listens
        )
        self.create_service(Trigger, '~/start', self._on_start, qos_profile=SERVICE)
        self.create_service(Trigger, '~/stop', self._on_stop, qos_profile=SERVICE)
        if self._clocked:
            self.create_timer(self._period_ns / 1e9, self._on_timer)
        self.diagnostics.add('reference', self._report)
        if self._wanted:
            self._plan()
        self.ask_for_real_time()
        self.event('ready', node=self.get_fully_qualified_name(), robot=self._robot.name)

    def _plan(self) -> ReferenceGenerator:
        """Build the motion that the parameters name."""
        s = self.settings
        trajectory = motion_of(
            self._robot, s['trajectory'] or None, s['seconds'] or None, s['seed']
        )
        return ReferenceGenerator(
            self._robot, trajectory, s['cycles'], s['approach_share'], s['approach_tolerance']
        )

    def _begin(self, now: int) -> None:
        assert self._position is not None
        generator = self._plan()
        start = self._position
        if self._generator is not None:
            held = self._generator.at(now)[0]
            # The robot is at the end of the last motion: continue from the reference itself.
            start = held if np.abs(held - start).max() < NEAR else start
        generator.start(now, start)
        self._generator, self._wanted = generator, False
        self._ahead.clear()
        self._zero, self._count, self._announced = now, 0, False
        self.settings.locked = True
        self.event(
            'playing', approach_s=generator.approach_s, cycles=generator.cycles, start_ns=now
        )
        begin = now + round(generator.approach_s * SECOND)
        self._starts.publish(Header(stamp=to_stamp(begin), frame_id=self._robot.name))
        self._publish_until(now)

    def _end_of_motion(self) -> None:
        self.settings.locked = False
        self._starts.publish(Header())

    def _on_position(self, ns: int, order: Order, position: Array) -> None:
        if order is Order.RESTART:
            self._time_restarted()
        elif order is Order.DUPLICATE and self._generator is not None:
            # A robot in lock-step may wait for a late subscriber: send it again.
            self._count = min(self._count, round((ns - self._zero) / self._period_ns))
        elif order is Order.LATE:
            return
        self._position = position
        if not self._clocked:
            self._go(ns)

    def _on_timer(self) -> None:
        if self._position is not None:
            self._go(self.get_clock().now().nanoseconds)

    def _go(self, now: int) -> None:
        if self._wanted:
            try:
                self._begin(now)
            except RobotIdError as error:
                self._wanted = False
                self.failure(f'cannot play: {error}')
        elif self._generator is not None:
            self._publish_until(now)

    def _time_restarted(self) -> None:
        """End the motion; with `start_motion` it starts again."""
        if self._generator is not None:
            self.event('time was reset', start_motion=self.settings['start_motion'])
        self._generator = None
        self._end_of_motion()
        self._wanted = self.settings['start_motion']

    def _publish_until(self, now: int) -> None:
        """Publish the points up to `lead` periods ahead of now."""
        generator = self._generator
        assert generator is not None
        last = round((now - self._zero) / self._period_ns) + self._lead
        if last - self._count > MOST_AT_ONCE:
            self._count = last - self._lead
        while self._count <= last:
            stamp = self._zero + round(self._count * self._period_ns)
            point = self._point(stamp)
            self._publisher.publish(self._layout.write(stamp, *point))
            if self.on_point is not None:
                self.on_point(stamp, point)
            self._meter.tick()
            self._count += 1
        if not self._announced and generator.over(now):
            self._announced = True
            self._end_of_motion()
            self.event('the motion has ended, its last position is held')

    def _point(self, stamp: int) -> Array:
        """Return (3, n) the point of a stamp, from a block that was computed ahead."""
        assert self._generator is not None
        point = self._ahead.get(stamp)
        if point is None:
            counts = self._count + np.arange(BLOCK)
            stamps = self._zero + np.rint(counts * self._period_ns).astype(np.int64)
            self._ahead = dict(zip(stamps.tolist(), self._generator.block(stamps)))
            point = self._ahead[stamp]
        return point

    def _on_start(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            if self._generator is not None and not self._announced:
                raise WrongState('a motion is being played: call ~/stop first')
            begin = self.get_clock().now().nanoseconds if self._clocked else self.states.watch.last
            if self._position is None or begin is None:
                self._plan()
                self._wanted = True
                response.message = 'starts with the first joint state'
            else:
                # At once: a robot in lock-step sends no state before it has its reference.
                self._begin(begin)
                response.message = 'starts'
            response.success = True
        except RobotIdError as error:
            response.message = str(error)
        return response

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._wanted = False
        if self._generator is None or self._announced:
            response.message = 'nothing is being played'
            return response
        last = self._zero + round((self._count - 1) * self._period_ns)
        self._generator.stop(last)
        self._ahead.clear()
        self.event('stopping')
        response.success, response.message = True, 'slows down and holds'
        return response

    def _report(self) -> Report:
        values = {
            **self._meter.take(),
            **self.process_values(),
            **self.states.watch.counts(),
            'refused': self.refused,
            'last_refusal': self.last_refusal,
            'of_other_joints': self.others,
        }
        if self._position is None:
            return WARN, 'waits for joint_states', values
        if self._generator is None:
            return OK, 'idle', values
        if self._announced:
            return OK, 'holds', values
        return OK, 'plays', values


def main() -> None:
    """Run the node until Ctrl-C."""
    end(run(TrajectoryGenerator))
