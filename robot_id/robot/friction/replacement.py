"""The same robot with other friction terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.files.description import Joint
from robot_id.robot.robot import Robot
from robot_id.texts import problem_of


def with_friction(
    robot: Robot,
    terms: Mapping[str, Sequence[str]],
    constants: Mapping[str, Mapping[str, float]] | None = None,
) -> Robot:
    """
    Return the same robot with other friction.

    Known values (truth, a priori) of parameters that are gone are left out.

    :param terms: of each joint, by its name; joints that are not named keep theirs.
    :param constants: of each joint's terms (Stribeck velocity ...), by joint and term.
    """
    for name in terms:
        if name not in robot.joint_names:
            hint = did_you_mean(name, robot.joint_names)
            raise DescriptionError(
                f"friction: {robot.name} has no joint '{name}', {hint}", joint=name
            )
    constants = constants or {}
    joints = tuple(
        _joint(joint, terms.get(joint.name, joint.friction), constants.get(joint.name, {}))
        for joint in robot.joints
    )
    nothing: dict[str, dict[str, float]] = {'truth': {}, 'a_priori': {}}
    description = robot.description.model_copy(update={'joints': joints, **nothing})
    known = set(Robot(description, robot.kinematics).standard_names)
    left = {
        key: {k: v for k, v in getattr(robot.description, key).items() if k in known}
        for key in nothing
    }
    return Robot(description.model_copy(update=left), robot.kinematics, robot.urdf, robot.source)


def with_constants(robot: Robot, constants: Mapping[str, Mapping[str, float]]) -> Robot:
    """
    Return the same robot with other constants of its friction terms; its base stays.

    :param constants: by joint and term.
    """
    other = with_friction(robot, {}, constants)
    other.load_parameters, other.heat = robot.load_parameters, robot.heat
    other.base = robot.base
    return other


def _joint(joint: Joint, terms: Sequence[str], constants: Mapping[str, float]) -> Joint:
    values = {**joint.friction_constants, **constants}
    changed = {
        'friction': tuple(terms),
        'friction_constants': {k: v for k, v in values.items() if k in terms},
    }
    try:
        return Joint.model_validate({**joint.model_dump(), **changed})
    except ValidationError as error:
        reason = problem_of(error.errors()[0])[1]
        raise DescriptionError(f"joint '{joint.name}': {reason}", joint=joint.name) from error
