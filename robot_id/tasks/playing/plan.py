"""What the robot will do at one speed: a slow approach, the motion, a slow return."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from robot_id.exceptions import TrajectoryError
from robot_id.excitation.clearance import Clearance
from robot_id.robot import Robot
from robot_id.trajectory import Concatenation, SlowDown, TimeScaled, Trajectory, approach
from robot_id.trajectory import slow_down as slower
from robot_id.trajectory.random import USUAL_ACCELERATION, USUAL_VELOCITY
from robot_id.trajectory.reference_generator import check_limits
from robot_id.trajectory.trajectory import Array

# Hz at which the ways are compared with the geometry.
CLEARANCE_HZ = 50.0
# Postures by way of which a way may go where the direct one is not clear.
POSTURES = 300
# Position, velocity and acceleration, (n,) each.
State = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Plan:
    """
    One speed of a motion, from where the robot stands and back.

    :param whole: approach, motion and return; it begins and ends at rest.
    :param speed: share of the motion's own speed.
    :param begin: seconds into `whole` at which the motion begins, `end` at which it ends.
    :param acceleration: (n,) limits for a stop.
    """

    whole: Trajectory
    speed: float
    begin: float
    end: float
    acceleration: Array

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
    Return the plan of one speed.

    :param position: (n,) where the robot stands.
    :param share: of the velocity and acceleration limits on approach and return.
    :param clearance: of the links: ways keep it, by way of another posture where they must.
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
    bounds = (
        share * np.where(np.isfinite(v), v, USUAL_VELOCITY),
        share * usual,
        np.minimum(limits.lower, position),
        np.maximum(limits.upper, position),
    )
    scaled = TimeScaled(motion, speed)
    q, dq, ddq = scaled._evaluate(np.array([0.0, scaled.duration]))
    zero = np.zeros(robot.n)
    rest = (np.asarray(position, float), zero, zero)
    first, last = (q[0], dq[0], ddq[0]), (q[1], dq[1], ddq[1])
    home = rest if back else (q[1], zero, zero)
    into = _clear_way(rest, first, bounds, clearance, 'approach')
    out = _clear_way(last, home, bounds, clearance, 'return')
    whole = Concatenation([*into, scaled, *out])
    begin = sum(part.duration for part in into)
    return Plan(whole, speed, begin, begin + scaled.duration, usual)


def _clear_way(
    start: State, end: State, bounds: tuple[Array, ...], clearance: Clearance | None, what: str
) -> list[Trajectory]:
    """
    Return a gentle way that keeps the clearance: the direct one, or one by way of a posture.

    Postures are drawn at random, those first that make it the least longer.

    :raises TrajectoryError: naming the pair of links, where none of them is clear.
    """
    direct = _parts([start, end], bounds)
    if clearance is None or not len(clearance) or _keeps(clearance, direct):
        return direct
    zero, (lower, upper) = np.zeros_like(start[0]), bounds[2:]
    low = np.where(np.isfinite(lower), lower, -np.pi)
    high = np.where(np.isfinite(upper), upper, np.pi)
    rng, middle = np.random.default_rng(0), 0.5 * (start[0] + end[0])
    # Near and far ones alike.
    share = rng.uniform(0.0, 1.0, (POSTURES, 1))
    postures = middle + share * (rng.uniform(low, high, (POSTURES, len(zero))) - middle)
    longer = sum(np.abs(postures - at[0]).max(axis=1) for at in (start, end))
    for k in np.argsort(longer):
        by_way = _parts([start, (postures[k], zero, zero), end], bounds)
        if _keeps(clearance, by_way):
            return by_way
    distance, pair = clearance.worst(_sampled(direct))
    raise TrajectoryError(
        f'the {what} would bring {pair} within {distance:.3f} m, also by way of {POSTURES} other '
        'postures: move the robot by hand near the start of the motion first, or choose another '
        'motion'
    )


def _parts(states: list[State], bounds: tuple[Array, ...]) -> list[Trajectory]:
    ways = (_way(one, other, bounds) for one, other in pairwise(states))
    return [way for way in ways if way is not None]


def _sampled(parts: list[Trajectory]) -> Array:
    """Return the postures (N, n) that are compared with the geometry."""
    return np.concatenate(
        [
            way.sample(np.linspace(0.0, way.duration, max(2, int(way.duration * CLEARANCE_HZ))))[0]
            for way in parts
        ]
    )


def _keeps(clearance: Clearance, parts: list[Trajectory]) -> bool:
    return not parts or clearance.keeps(_sampled(parts))


def _way(start: State, end: State, bounds: tuple[Array, ...]) -> Trajectory | None:
    """Return a gentle way; where the acceleration would jump at rest it starts from none."""
    zero = np.zeros_like(start[0])
    try:
        return approach(start, end, *bounds)
    except TrajectoryError:
        if np.any(np.abs(start[1]) > 1e-9) or np.any(np.abs(end[1]) > 1e-9):
            raise
        return approach((start[0], zero, zero), (end[0], zero, zero), *bounds)
