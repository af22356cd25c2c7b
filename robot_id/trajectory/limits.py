"""The limits that a planned motion keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robot_id.exceptions import OptionError, TrajectoryError, did_you_mean
from robot_id.model import Robot
from robot_id.trajectory.trajectory import Array, Trajectory

QUANTITIES = ('lower', 'upper', 'velocity', 'acceleration', 'torque')


@dataclass(frozen=True)
class MotionLimits:
    """
    What a motion may use of the joints' limits, (n,) each.

    Positions and velocities are always finite; acceleration or torque may be infinite, not both.
    """

    joint_names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    torque: Array

    @property
    def middle(self) -> Array:
        """(n,) middle of the position range."""
        return 0.5 * (self.lower + self.upper)

    @property
    def half(self) -> Array:
        """(n,) half of the position range."""
        return 0.5 * (self.upper - self.lower)

    def usage(self, trajectory: Trajectory) -> Array:
        """(n,) largest share of position, velocity and acceleration limits, 1 = at the limit."""
        peak = trajectory.extremes()
        reach = np.maximum(peak.upper - self.middle, self.middle - peak.lower)
        return np.maximum.reduce(
            [
                reach / self.half,
                peak.velocity / self.velocity,
                peak.acceleration / self.acceleration,
            ]
        )

    def check(self, trajectory: Trajectory) -> None:
        """Refuse a motion that leaves the limits at any instant, naming the joint and the peak."""
        peak = trajectory.extremes()
        slack = 1e-9 * np.maximum(self.half, 1.0)
        for what, seen, bound, bad in (
            ('position', peak.lower, self.lower, peak.lower < self.lower - slack),
            ('position', peak.upper, self.upper, peak.upper > self.upper + slack),
            ('velocity', peak.velocity, self.velocity, peak.velocity > self.velocity * (1 + 1e-9)),
            (
                'acceleration',
                peak.acceleration,
                self.acceleration,
                peak.acceleration > self.acceleration * (1 + 1e-9),
            ),
        ):
            if np.any(bad):
                j = int(np.flatnonzero(bad)[0])
                raise TrajectoryError(
                    f"joint '{self.joint_names[j]}' leaves its {what} limit: {seen[j]:.6g} "
                    f'against {bound[j]:.6g}'
                )


def motion_limits(
    robot: Robot, fraction: float = 1.0, changes: Mapping[str, float] | None = None
) -> MotionLimits:
    """
    Return the robot's limits, shrunk to a fraction about the middle of the position range.

    :param fraction: share of every limit that the motion may use, 0 to 1.
    :param changes: values that replace or complete the robot file, under 'joint.quantity' with the
        quantities lower, upper, velocity, acceleration, torque.
    """
    if not 0.0 < fraction <= 1.0:
        raise OptionError(f'the fraction of the limits must be in (0, 1], got {fraction}')
    values = {q: np.array(getattr(robot.limits, q), float) for q in QUANTITIES}
    for key, value in (changes or {}).items():
        joint, _, quantity = key.rpartition('.')
        if joint not in robot.joint_names:
            hint = did_you_mean(joint, robot.joint_names)
            raise OptionError(f"limit '{key}': no joint '{joint}', {hint}")
        if quantity not in QUANTITIES:
            hint = did_you_mean(quantity, QUANTITIES)
            raise OptionError(f"limit '{key}': no quantity '{quantity}', {hint}")
        values[quantity][robot.joint_names.index(joint)] = value
    for j, name in enumerate(robot.joint_names):
        _check_joint(name, {q: float(v[j]) for q, v in values.items()})
    middle = 0.5 * (values['lower'] + values['upper'])
    half = 0.5 * (values['upper'] - values['lower']) * fraction
    return MotionLimits(
        robot.joint_names,
        middle - half,
        middle + half,
        *(fraction * values[q] for q in ('velocity', 'acceleration', 'torque')),
    )


def _check_joint(name: str, own: dict[str, float]) -> None:
    """Refuse a joint whose limits are missing or leave it no room."""

    def missing(quantity: str) -> TrajectoryError:
        return TrajectoryError(
            f"joint '{name}' has no {quantity} limit: a motion cannot be planned safely; add it "
            f"to the joint's limits in the robot file or give '{name}.{quantity}=VALUE'"
        )

    for quantity in ('lower', 'upper', 'velocity'):
        if not np.isfinite(own[quantity]):
            raise missing(quantity)
    if not np.isfinite(own['acceleration']) and not np.isfinite(own['torque']):
        raise missing('acceleration')
    if own['lower'] >= own['upper']:
        raise TrajectoryError(
            f"joint '{name}' has no room to move: its position limits are "
            f'[{own["lower"]:g}, {own["upper"]:g}]'
        )
    for quantity in ('velocity', 'acceleration', 'torque'):
        if not own[quantity] > 0.0:
            raise TrajectoryError(
                f"joint '{name}' cannot move: its {quantity} limit is {own[quantity]:g}"
            )
