"""Loading a robot: a shipped name, a robot file, a URDF or xacro, or a pinocchio model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from pydantic import BaseModel, ValidationError

from robot_id.exceptions import DescriptionError, did_you_mean, shorten
from robot_id.robot.files.bounds import Bounds, LinkBounds, Plate, TotalMass
from robot_id.robot.files.description import (
    Alias,
    Joint,
    JointLimits,
    Loop,
    MdhRow,
    Noise,
    RobotDescription,
)
from robot_id.robot.files.pinocchio_model import from_pinocchio
from robot_id.robot.files.snapping import snap_mdh
from robot_id.robot.files.source import RobotSource, digest, robot_files
from robot_id.robot.files.urdf import from_urdf
from robot_id.robot.files.xacro import expand, is_xacro
from robot_id.robot.kinematics import Kinematics, from_mdh, lock_chain
from robot_id.robot.robot import Robot
from robot_id.texts import one_line, problem_of
from robot_id.yaml_text import YamlError, read_yaml

# The base parameters take the cube of their number: more than this would take minutes.
MOST_BODIES = 100


def read_description(path: Path) -> RobotDescription:
    """Read and check a robot file; a mistake is one line with the file, the key and the fix."""
    try:
        data = read_yaml(path)
    except (OSError, ValueError) as error:
        raise DescriptionError(
            f'{path}: {getattr(error, "strerror", None) or error}', code='no_file'
        ) from error
    except YamlError as error:
        raise DescriptionError(f'{path}: {error}', code='not_yaml') from error
    if not isinstance(data, dict):
        raise DescriptionError(
            f'{path}: a robot file is a mapping of keys, got {type(data).__name__}'
        )
    return parse_description(data, str(path))


def parse_description(data: dict[str, Any], source: str) -> RobotDescription:
    """Check a robot file that is already a dictionary."""
    try:
        return RobotDescription.model_validate(data)
    except ValidationError as error:
        line, key, value = _first_problem(error)
        raise DescriptionError(f'{source}: {line}', key=key, value=value) from error


def _first_problem(error: ValidationError) -> tuple[str, str | None, Any]:
    """Return what is wrong in words, the key, and its value unless that is a whole mapping."""
    problems = error.errors()
    # A misspelt key is often also a missing one: the misspelling is the more helpful message.
    unknown = [p for p in problems if p['type'] == 'extra_forbidden']
    problem = (unknown or problems)[0]
    place, message = problem_of(problem)
    if problem['type'] == 'extra_forbidden':
        known = _known_keys(problem['loc'][:-1])
        hint = did_you_mean(str(problem['loc'][-1]), known)
        return f"unknown key '{place}', {hint}", place, None
    if problem['type'] == 'missing':
        return f"key '{place}' is missing", place, None
    if not place:
        return message, None, None
    value = problem['input']
    if not isinstance(value, (str, int, float)):
        return f'{place}: {message}', place, None
    got = f', got {shorten(repr(value))}'
    return f'{place}: {message}' + ('' if got[6:] in message else got), place, value


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the model at this place of the file knows."""
    models: dict[str, type[BaseModel]] = {
        'mdh': MdhRow, 'joints': Joint, 'limits': JointLimits, 'loops': Loop, 'noise': Noise,
        'renamed': Alias, 'bounds': Bounds, 'links': LinkBounds, 'planar': Plate,
        'total_mass': TotalMass,
    }  # fmt: skip
    model: type[BaseModel] = RobotDescription
    for part in location:
        model = models.get(str(part), model)
    return list(model.model_fields)


def load_robot(
    robot: str | Path | pin.Model | Robot,
    *,
    lock: Mapping[str, float] | None = None,
    xacro_args: Mapping[str, str] | None = None,
) -> Robot:
    """
    Load a robot by a shipped name, from a robot file, URDF or xacro, or of a pinocchio model.

    :param robot: name, path or pinocchio.Model; a Robot is returned as it is.
    :param lock: joints that do not move, such as those of a gripper, with their position [rad, m].
    :param xacro_args: arguments of a xacro.
    :raises DescriptionError: naming the file, the key or the joint.
    """
    if lock is not None and not isinstance(lock, Mapping):
        raise DescriptionError(
            f"lock: a position for each joint is needed, such as {{'finger': 0.0}}, got {lock!r}",
            key='lock',
            value=lock,
        )
    if isinstance(robot, Robot):
        if lock:
            raise DescriptionError(f'{robot.name}: lock joints where the robot is loaded')
        return robot
    if isinstance(robot, pin.Model):
        return from_pinocchio(robot, lock)
    text = str(robot)
    path = Path(text)
    named, urdf = text, None
    if path.suffix in ('.urdf', '.xml') or is_xacro(path):
        urdf = expand(path, xacro_args or {}) if is_xacro(path) else path
        content = {'name': one_line(path.name.split('.')[0]), 'urdf': str(urdf.resolve())}
        description = parse_description(content, text)
        named = str(path.resolve())
    else:
        if path.suffix in ('.yaml', '.yml'):
            named = str(path.resolve())
        else:
            shipped = robot_files()
            if text not in shipped:
                hint = did_you_mean(text, shipped)
                raise DescriptionError(
                    f"no robot '{text}', {hint} (or give a .yaml, .urdf or .xacro file)",
                    code='no_robot',
                )
            path = shipped[text]
        description = read_description(path)
    try:
        if lock:
            description = _locked(description, lock, text)
        built = build_robot(description, path.parent)
    except DescriptionError as error:
        message = str(error)
        raise DescriptionError(
            message if str(path) in message else f'{path}: {message}'
        ) from error
    files = (built.urdf,) if urdf is not None else (path, built.urdf)
    built.source = RobotSource(named, digest(*files), dict(lock or {}), dict(xacro_args or {}))
    return built


def _locked(
    description: RobotDescription, lock: Mapping[str, float], source: str
) -> RobotDescription:
    """Return a description with more joints that do not move."""
    content = description.model_dump(exclude_unset=True)
    own = {} if isinstance(description.locked, str) else dict(description.locked)
    if description.urdf is not None and description.joints is not None:
        content['joints'] = [one for one in content['joints'] if one['name'] not in lock]
    if description.locked != 'others':
        content['locked'] = own | dict(lock)
    return parse_description(content, source)


def build_robot(description: RobotDescription, folder: Path) -> Robot:
    """
    Build the robot of a checked description.

    :param folder: where a relative path of its URDF starts.
    """
    names = tuple(joint.name for joint in description.joints or ())
    kinematics, urdf = None, None
    if description.urdf is not None:
        urdf = folder / description.urdf
        if not os.path.isfile(urdf):
            raise DescriptionError(f"urdf: no file '{description.urdf}' ({urdf})")
        urdf = expand(urdf, {}) if is_xacro(urdf) else urdf
        kinematics = from_urdf(urdf, description.locked, names, description.snap)
        if names:
            kinematics = _order(urdf, kinematics, names)
        else:
            _sizes(description, kinematics.n)
    if (rows := description.table) is not None:
        table = from_mdh(snap_mdh(rows) if description.snap else rows, names)
        if kinematics is not None:
            _check_agreement(kinematics, table)
        elif description.locked and not isinstance(description.locked, str):
            kinematics = lock_chain(table, description.locked)
        else:
            kinematics = table
    assert kinematics is not None
    if len(kinematics.parent) > MOST_BODIES:
        raise DescriptionError(
            f'{len(kinematics.parent)} moving bodies, at most {MOST_BODIES} are supported'
        )
    robot = Robot(_found(description, folder), kinematics, urdf)
    robot.check()
    return robot


def _found(description: RobotDescription, folder: Path) -> RobotDescription:
    """Return the description with the full paths of the files of the cell."""
    named = {'world': description.world, 'srdf': description.srdf}
    paths = {key: folder / name for key, name in named.items() if name is not None}
    for key, path in paths.items():
        if not os.path.isfile(path):
            raise DescriptionError(f"{key}: no file '{named[key]}' ({path})", key=key)
    return description.model_copy(update={key: str(path) for key, path in paths.items()})


def _sizes(description: RobotDescription, n: int) -> None:
    try:
        description.check_sizes(n)
    except ValueError as error:
        raise DescriptionError(str(error)) from error


def _order(urdf: Path, kinematics: Kinematics, names: tuple[str, ...]) -> Kinematics:
    """Put the joints into the order of the robot file; every moving joint must be named."""
    for name in names:
        if name not in kinematics.joint_names:
            hint = did_you_mean(name, kinematics.joint_names)
            raise DescriptionError(
                f"joints: '{name}' is not a moving joint of {urdf.name}, {hint}"
            )
    for name in kinematics.joint_names:
        if name not in names:
            raise DescriptionError(
                f"joint '{name}' of {urdf.name} is neither under 'joints' nor 'locked'; "
                "write 'locked: others' to freeze all that are not named",
                joint=name,
            )
    place = np.array([names.index(name) for name in kinematics.joint_names])
    limits = np.empty_like(kinematics.limits)
    limits[place] = kinematics.limits
    return replace(kinematics, joint_names=names, dof=place[kinematics.dof], limits=limits)


def _check_agreement(urdf: Kinematics, table: Kinematics) -> None:
    """Refuse a robot file whose URDF and MDH table are not the same mechanism."""
    if len(urdf.parent) != len(table.parent):
        raise DescriptionError(
            f'urdf has {len(urdf.parent)} moving bodies, mdh has {len(table.parent)} rows'
        )
    for field in ('parent', 'dof', 'prismatic', 'rotation', 'translation', 'axis'):
        ours, theirs = getattr(urdf, field), getattr(table, field)
        for i, name in enumerate(urdf.body_names):
            if not np.allclose(ours[i], theirs[i], rtol=0, atol=1e-9):
                raise DescriptionError(
                    f"urdf and mdh differ in the {field} of joint '{name}'", joint=name
                )
