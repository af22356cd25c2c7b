"""What the robot will do at one speed: a slow approach, the motion, a slow return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_id.exceptions import TrajectoryError
from robot_id.excitation.clearance import Clearance
from robot_id.robot import Robot
from robot_id.tasks.playing.clear_way import Bounds, check_clearance, clear_way
from robot_id.tasks.playing.whole_turns import TURN, whole_turns
from robot_id.trajectory import Concatenation, Shifted, SlowDown, TimeScaled, Trajectory
from robot_id.trajectory import slow_down as slower
from robot_id.trajectory.random import USUAL_ACCELERATION, USUAL_VELOCITY
from robot_id.trajectory.reference_generator import check_limits
from robot_id.trajectory.trajectory import Array


@dataclass(frozen=True)
class Plan:
    """
    One speed of a motion, from where the robot stands and back.

    :param whole: approach, motion and return; it begins and ends at rest.
    :param speed: share of the motion's own speed.
    :param begin: seconds into `whole` at which the motion begins, `end` at which it ends.
    :param acceleration: (n,) limits for a stop.
    :param turns: (n,) whole turns that joints are further than the motion was given.
    """

    whole: Trajectory
    speed: float
    begin: float
    end: float
    acceleration: Array
    turns: Array

    @property
    def motion_s(self) -> float:
        """Seconds of the motion itself."""
        return self.end - self.begin

    def phase(self, executed: float) -> tuple[str, float]:
        """Return the phase at an executed time, and its fraction."""
        if executed < self.begin:
            return 'approach', executed / self.begin
        if executed < self.end:
            return 'motion', (executed - self.begin) / self.motion_s
        left = self.whole.duration - self.end
        return 'return', 1.0 if left <= 0.0 else min((executed - self.end) / left, 1.0)

    def stop(self, executed: float) -> SlowDown:
        """Return how to come to rest along the path from an executed time on."""
        return slower(self.whole, executed, self.acceleration)


def make_plan(
    robot: Robot,
    motion: Trajectory,
    speed: float,
    position: Array,
    share: float,
    clearance: Clearance | None = None,
    back: bool = True,
) -> Plan:
    """
    Return the plan of one speed, a whole turn of a joint away where the robot stands nearer so.

    :param position: (n,) where the robot stands.
    :param share: of the velocity and acceleration limits on approach and return.
    :param clearance: of the links: the motion must keep it; ways do, by way of other postures
        where they must.
    :param back: whether to return to the position.
    :raises TrajectoryError: naming the joint or the pair of links.
    """
    if not 0.0 < speed <= 1.0:
        raise TrajectoryError(f'speed {speed:g}: a share of the motion, above 0 and at most 1')
    check_limits(robot, motion)
    limits = robot.limits
    for joint, place, low, high in zip(robot.joint_names, position, limits.lower, limits.upper):
        if not low - 0.05 <= place <= high + 0.05:
            raise TrajectoryError(
                f"joint '{joint}' stands at {place:.4g}, outside its limits [{low:g}, {high:g}]: "
                'its zero or unit is wrong, or the robot must be moved by hand first',
                joint=joint,
            )
    v, usual = limits.velocity, limits.usual_acceleration
    usual = np.where(np.isfinite(usual), usual, USUAL_ACCELERATION)
    bounds = Bounds(
        share * np.where(np.isfinite(v), v, USUAL_VELOCITY),
        share * usual,
        np.minimum(limits.lower, position),
        np.maximum(limits.upper, position),
    )
    turns = whole_turns(robot, motion, position)
    turned = Shifted(motion, TURN * turns) if turns.any() else motion
    if clearance is not None:
        check_clearance(turned, clearance)
    scaled = TimeScaled(turned, speed)
    q, dq, ddq = scaled._evaluate(np.array([0.0, scaled.duration]))
    zero = np.zeros(robot.n)
    rest = (np.asarray(position, float), zero, zero)
    first, last = (q[0], dq[0], ddq[0]), (q[1], dq[1], ddq[1])
    home = rest if back else (q[1], zero, zero)
    into = clear_way(rest, first, bounds, clearance, 'approach')
    out = clear_way(last, home, bounds, clearance, 'return')
    whole = Concatenation([*into, scaled, *out])
    begin = sum(part.duration for part in into)
    return Plan(whole, speed, begin, begin + scaled.duration, usual, turns)
