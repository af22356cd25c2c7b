"""
The model of a URDF, SDF or MJCF in place of a result, to judge its own parameters.

`robot_of` loads the robot of a result again, from the file that the result names.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError, DescriptionError
from robot_id.methods.result import Result
from robot_id.methods.torque_model import mjcf_parameters, sdf_parameters
from robot_id.robot import Robot, load_robot
from robot_id.robot.files.urdf import from_urdf, joint_friction
from robot_id.robot.kinematics import Kinematics

Array = NDArray[np.float64]
OWN = 'urdf'
# Frames of two files of the same robot: rounded angles and lengths.
_SAME = 1e-4
ENDINGS = ('.urdf', '.sdf', '.xml', '.mjcf')


def is_model(params: str | Path) -> bool:
    """Whether `params` names a model: the word `urdf`, or a file with such an ending."""
    return str(params) == OWN or Path(params).suffix.lower() in ENDINGS


def load_result_or_model(robot: Robot, params: str | Path) -> Result:
    """
    Return the result in a JSON file, or a model in its place.

    :param params: a JSON file that identify wrote; a URDF, SDF or MJCF file; or `urdf`, the
        inertias of the robot's own URDF without any friction.
    """
    if not is_model(params):
        return Result.load(params)
    return own_model(robot) if str(params) == OWN else model_of(robot, Path(params))


def own_model(robot: Robot) -> Result:
    """Return the inertias of the robot's own URDF, friction and rotor inertias zero."""
    if robot.urdf is None:
        raise DataError(f"{robot.name} has no URDF: 'urdf' means the inertias in it")
    return _result(robot, robot.kinematics.inertia, {}, robot.urdf)


def model_of(robot: Robot, path: Path) -> Result:
    """
    Return the parameters of a URDF, SDF or MJCF of the same robot.

    :raises DataError: when its joints or frames are not those of the robot.
    """
    if not os.path.isfile(path):
        raise DataError(f'{path}: no such file')
    kind = _first_tag(path)
    if kind == 'mujoco':
        return _as_result(robot, 'mjcf', mjcf_parameters(robot, path))
    if kind == 'sdf':
        return _as_result(robot, 'sdf', sdf_parameters(robot, path))
    return _urdf_model(robot, path)


def _first_tag(path: Path) -> str:
    """Return the first tag of an XML file, '' where there is none."""
    try:
        for _, element in ElementTree.iterparse(path, events=('start',)):
            return str(element.tag)
    except (ElementTree.ParseError, OSError, ValueError):
        pass
    return ''


def _urdf_model(robot: Robot, path: Path) -> Result:
    """Return the inertias, damping and friction of a URDF of the same robot."""
    own, snap = robot.kinematics, robot.description.snap
    locked = dict(own.locked)
    try:
        other = from_urdf(path, locked, snap=snap)
    except DescriptionError as error:
        raise DataError(f'{error}; it must have the joints of {robot.name}') from error
    for name in own.body_names:
        _same_joint(robot, path, own, other, name)
    if len(other.body_names) > len(own.body_names):
        extra = next(name for name in other.body_names if name not in own.body_names)
        raise DataError(f"{path}: joint '{extra}' does not move in {robot.name}", joint=extra)
    order = [other.body_names.index(name) for name in own.body_names]
    friction = joint_friction(path, robot.joint_names, other.locked, snap)
    return _result(robot, other.inertia[order], friction, path)


def _same_joint(robot: Robot, path: Path, own: Kinematics, other: Kinematics, name: str) -> None:
    """Refuse a joint that another file does not have, or has at another place."""
    if name not in other.body_names:
        raise DataError(
            f"{path}: no joint '{name}', it is not a model of {robot.name}", joint=name
        )
    i, j = own.body_names.index(name), other.body_names.index(name)
    pairs = (
        (own.rotation[i], other.rotation[j]),
        (own.translation[i], other.translation[j]),
        (own.axis[i], other.axis[j]),
        (own.ratio[i], other.ratio[j]),
        (own.prismatic[i], other.prismatic[j]),
    )
    apart = max(float(np.abs(np.subtract(a, b, dtype=float)).max()) for a, b in pairs)
    if apart > _SAME or _carrier(own, i) != _carrier(other, j):
        raise DataError(
            (f"{path}: joint '{name}' has another position or axis than in {robot.name}"),
            joint=name,
        )


def _carrier(kinematics: Kinematics, i: int) -> str:
    """Return the joint that carries a body's joint, empty for the base."""
    parent = int(kinematics.parent[i])
    return kinematics.body_names[parent] if parent >= 0 else ''


def _result(robot: Robot, inertia: Array, friction: dict[str, float], path: Path) -> Result:
    """
    Return (nb, 10) inertias and the friction as a result without deviations.

    :raises DataError: for friction that the robot file has no term for, or no mass at all.
    """
    if not np.any(inertia[:, 9] > 0.0):
        raise DataError(f'{path}: no link that moves has a mass')
    x = np.zeros(len(robot.standard_names))
    x[robot.inertial_index] = inertia
    for name, value in friction.items():
        places = robot.standard.friction_places(name)
        x[places] = value
        if not places and value != 0.0:
            joint = robot.joint_names[int(name[2:]) - 1]
            raise DataError(
                f"{path}: joint '{joint}' has friction {value:g}, {robot.name} has no {name}",
                joint=joint,
            )
    return _as_result(robot, OWN, robot.base.from_standard(x))


def _as_result(robot: Robot, kind: str, chi: Array) -> Result:
    """Return (b,) base parameters as a result without deviations."""
    b = len(robot.base)
    return Result(robot.name, kind, robot.base.names, chi, np.full((b, b), np.nan))


def robot_of(
    result: Result, robot: Robot | str | Path | None = None, source: str | Path = 'result'
) -> tuple[Robot, tuple[str, ...]]:
    """
    Return the robot of a result, and a line where it is not the one that it was identified with.

    :param robot: the robot, where it is given; None loads what the result names.
    :param source: of the result, for messages.
    :raises DescriptionError: where the file is not there, naming it.
    """
    stored = result.robot_file
    if robot is not None:
        found = load_robot(robot)
    else:
        name = stored['path'] if stored else result.robot
        options = (
            {key: stored[key] for key in ('locked', 'xacro_args') if key in stored}
            if stored
            else {}
        )
        try:
            found = load_robot(
                name, lock=options.get('locked'), xacro_args=options.get('xacro_args')
            )
        except DescriptionError as error:
            raise DescriptionError(
                f'{error}; {source} names this robot: give its file with --robot (robot=)',
                key='robot',
                value=name,
            ) from error
    if stored and found.source is not None and found.source.sha256 != stored['sha256']:
        return found, (
            f'{source}: the robot was identified with another content of {stored["path"]}, or '
            'with another file: names and values may not fit',
        )
    return found, ()
