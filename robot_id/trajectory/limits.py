"""The limits that a planned motion keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_id.exceptions import OptionError, TrajectoryError, did_you_mean
from robot_id.robot import Robot
from robot_id.robot.files.urdf_tags import read_urdf
from robot_id.robot.limits import FULL_SPEED_S, Limits
from robot_id.trajectory.trajectory import Array, Trajectory

QUANTITIES = ('lower', 'upper', 'velocity', 'acceleration', 'torque')
# A limit below this, in SI units, leaves no motion.
STANDSTILL = 1e-9


@dataclass(frozen=True)
class MotionLimits:
    """
    The part of the joints' limits that a motion may use, (n,) each.

    Torques may be infinite, the others are finite.

    :param notes: one line for each limit that was assumed.
    """

    joint_names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    torque: Array
    notes: tuple[str, ...] = ()

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
        refuse_excess(trajectory, self, self.joint_names, 1e-9 * np.maximum(self.half, 1.0), 1e-9)


def refuse_excess(
    trajectory: Trajectory,
    limits: MotionLimits | Limits,
    joint_names: Sequence[str],
    slack: Array | float,
    share: float,
) -> None:
    """
    Refuse a motion that leaves limits at any instant.

    :param slack: of the positions, rad or m.
    :param share: of velocity and acceleration that a peak may lie above its limit.
    :raises TrajectoryError: with the joint, the peak and its limit.
    """
    peak = trajectory.extremes()
    fast, hard = limits.velocity, limits.acceleration
    for what, seen, bound, bad in (
        ('position', peak.lower, limits.lower, peak.lower < limits.lower - slack),
        ('position', peak.upper, limits.upper, peak.upper > limits.upper + slack),
        ('velocity', peak.velocity, fast, peak.velocity > (1.0 + share) * fast),
        ('acceleration', peak.acceleration, hard, peak.acceleration > (1.0 + share) * hard),
    ):
        if np.any(bad):
            j = int(np.flatnonzero(bad)[0])
            raise TrajectoryError(
                f"joint '{joint_names[j]}' leaves its {what} limit: {seen[j]:.6g} against "
                f'{bound[j]:.6g}',
                joint=joint_names[j],
                key=what,
                value=float(seen[j]),
                bound=float(bound[j]),
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
        raise OptionError(
            f'the fraction of the limits must be in (0, 1], got {fraction}',
            key='fraction',
            value=fraction,
            bound=(0.0, 1.0),
        )
    values = {q: np.array(getattr(robot.limits, q), float) for q in QUANTITIES}
    for key, value in (changes or {}).items():
        joint, _, quantity = key.rpartition('.')
        if joint not in robot.joint_names:
            hint = did_you_mean(joint, robot.joint_names)
            raise OptionError(f"limit '{key}': no joint '{joint}', {hint}", joint=joint, key=key)
        if quantity not in QUANTITIES:
            hint = did_you_mean(quantity, QUANTITIES)
            raise OptionError(f"limit '{key}': no quantity '{quantity}', {hint}", key=key)
        values[quantity][robot.joint_names.index(joint)] = value
    notes = _assume(robot, values)
    for j, name in enumerate(robot.joint_names):
        _check_joint(name, {q: float(v[j]) for q, v in values.items()})
    middle = 0.5 * (values['lower'] + values['upper'])
    half = 0.5 * (values['upper'] - values['lower']) * fraction
    return MotionLimits(
        robot.joint_names,
        middle - half,
        middle + half,
        fraction * values['velocity'],
        fraction * values['acceleration'],
        fraction * values['torque'],
        notes,
    )


def _assume(robot: Robot, values: dict[str, Array]) -> tuple[str, ...]:
    """Fill in what a URDF does not have: a turn of continuous joints, and accelerations."""
    notes = []
    for j in _continuous(robot):
        if not np.isfinite(values['lower'][j]) and not np.isfinite(values['upper'][j]):
            values['lower'][j], values['upper'][j] = -np.pi, np.pi
            notes.append(f"joint '{robot.joint_names[j]}' is continuous: -pi to pi assumed")
    missing = ~np.isfinite(values['acceleration'])
    assumed = replace(robot.limits, **values).usual_acceleration
    values['acceleration'] = assumed
    if np.any(missing & np.isfinite(assumed)):
        names = ', '.join(
            f'{name} {a:.3g}' for name, a, none in zip(robot.joint_names, assumed, missing) if none
        )
        notes.append(
            f'no acceleration limit, full speed within {FULL_SPEED_S:g} s assumed: {names} '
            '(JOINT.acceleration=VALUE changes it)'
        )
    return tuple(notes)


def _continuous(robot: Robot) -> list[int]:
    """Return the numbers of the joints that a URDF calls continuous."""
    if robot.urdf is None:
        return []
    joints = read_urdf(robot.urdf)[1]
    return [
        j
        for j, name in enumerate(robot.joint_names)
        if name in joints and joints[name].type == 'continuous'
    ]


def _check_joint(name: str, own: dict[str, float]) -> None:
    """Refuse a joint whose limits are missing or leave it no room."""

    def missing(quantity: str) -> TrajectoryError:
        return TrajectoryError(
            f"joint '{name}' has no {quantity} limit: a motion cannot be planned safely; add it "
            f"to the joint's limits in the robot file or give '{name}.{quantity}=VALUE'",
            joint=name,
            key=quantity,
        )

    for quantity in ('lower', 'upper', 'velocity'):
        if not np.isfinite(own[quantity]):
            raise missing(quantity)
    if own['lower'] >= own['upper']:
        raise TrajectoryError(
            f"joint '{name}' has no room to move: its position limits are "
            f'[{own["lower"]:g}, {own["upper"]:g}]',
            joint=name,
            key='position',
            value=(own['lower'], own['upper']),
        )
    for quantity in ('velocity', 'acceleration', 'torque'):
        if not own[quantity] > STANDSTILL:
            raise TrajectoryError(
                f"joint '{name}' cannot move: its {quantity} limit is {own[quantity]:g}",
                joint=name,
                key=quantity,
                value=own[quantity],
                bound=0.0,
            )
