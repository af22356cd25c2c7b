"""A robot from a pinocchio model that a script has built already."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.files.description import RobotDescription
from robot_id.robot.files.urdf import lock_joints
from robot_id.robot.kinematics import Kinematics
from robot_id.robot.parameters.inertia import inertia_row
from robot_id.robot.robot import Robot

_AXES = {'X': (1.0, 0.0, 0.0), 'Y': (0.0, 1.0, 0.0), 'Z': (0.0, 0.0, 1.0)}


def from_pinocchio(model: pin.Model, lock: Mapping[str, float] | None = None) -> Robot:
    """
    Return the robot of a pinocchio model: its joints, inertias, gravity and limits.

    :param lock: joints that do not move, with their position.
    :raises DescriptionError: for joints other than revolute and prismatic ones.
    """
    frozen = dict(lock or {})
    for name in frozen:
        if name not in list(model.names)[1:]:
            hint = did_you_mean(name, list(model.names)[1:])
            raise DescriptionError(f"lock: no joint '{name}', {hint}", joint=name)
    model = lock_joints(model, frozen) if frozen else model
    names = tuple(list(model.names)[1:])
    if not names:
        raise DescriptionError('the pinocchio model has no moving joint')
    placements = [model.jointPlacements[i + 1] for i in range(len(names))]
    kinds = [_axis(model.joints[i + 1].shortname(), model, i + 1) for i in range(len(names))]
    kinematics = Kinematics(
        joint_names=names,
        body_names=names,
        parent=np.array([model.parents[i + 1] - 1 for i in range(len(names))], np.int64),
        rotation=np.array([placement.rotation for placement in placements]),
        translation=np.array([placement.translation for placement in placements]),
        axis=np.array([axis for axis, _ in kinds]),
        prismatic=np.array([slides for _, slides in kinds]),
        dof=np.arange(len(names)),
        ratio=np.ones(len(names)),
        offset=np.zeros(len(names)),
        inertia=np.array([inertia_row(model.inertias[i + 1]) for i in range(len(names))]),
        limits=np.array([_limits(model, i + 1) for i in range(len(names))]),
        locked=frozen,
    )
    description = RobotDescription.model_construct(
        name=model.name or 'robot', gravity=tuple(model.gravity.linear.tolist())
    )
    robot = Robot(description, kinematics)
    robot.check()
    return robot


def _axis(kind: str, model: pin.Model, joint: int) -> tuple[tuple[float, float, float], bool]:
    """Return the axis of a joint in its own frame, and whether it slides."""
    short = kind.removeprefix('JointModel')
    if short in ('RX', 'RY', 'RZ', 'RUBX', 'RUBY', 'RUBZ'):
        return _AXES[short[-1]], False
    if short in ('PX', 'PY', 'PZ'):
        return _AXES[short[-1]], True
    name = model.names[joint]
    if short in ('RevoluteUnaligned', 'RevoluteUnboundedUnaligned', 'PrismaticUnaligned'):
        axis = model.joints[joint].extract().axis
        return (float(axis[0]), float(axis[1]), float(axis[2])), short.startswith('Prismatic')
    raise DescriptionError(
        f"joint '{name}' of the pinocchio model is {short}: only revolute and prismatic joints "
        'can be identified; lock it',
        joint=name,
    )


def _limits(model: pin.Model, joint: int) -> tuple[float, float, float, float]:
    """Return lower, upper, velocity, effort; NaN where the model has none."""
    at, own = model.joints[joint].idx_v, model.joints[joint]
    lower, upper = float('nan'), float('nan')
    if own.nq == 1:
        lower = float(model.lowerPositionLimit[own.idx_q])
        upper = float(model.upperPositionLimit[own.idx_q])
    if not (np.isfinite([lower, upper]).all() and lower < upper and upper < 1e30):
        lower = upper = float('nan')
    rest = [float(model.velocityLimit[at]), float(model.upperEffortLimit[at])]
    speed, effort = (x if np.isfinite(x) and 0.0 < x < 1e30 else float('nan') for x in rest)
    return lower, upper, speed, effort
