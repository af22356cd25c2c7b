"""The description of a robot as plain data for a table or a JSON file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from robot_id.json_numbers import finite_or_none
from robot_id.robot.robot import Robot


def summarise(robot: Robot) -> dict[str, Any]:
    """
    Return kinematics, limits, loops and base parameters with their groupings.

    None stands for values that are not given.
    """
    description = robot.description
    truth = robot.truth() if description.truth else None
    return {
        'schema': 1,
        'name': robot.name,
        'description': description.description,
        'gravity': [float(g) for g in robot.gravity],
        'urdf': description.urdf,
        'mdh': [row.model_dump() for row in description.table or ()],
        'joints': [_joint(robot, j) for j in range(robot.n)],
        'bodies': _bodies(robot),
        'mimics': _mimics(robot),
        'snapped': list(robot.kinematics.notes),
        'locked': dict(robot.kinematics.locked),
        'coupling': None if robot.coupling is None else robot.coupling.tolist(),
        'loops': {
            name: loop.model_dump(exclude_none=True) for name, loop in description.loops.items()
        },
        'standard_parameters': list(robot.standard_names),
        'base_parameters': [
            {
                'name': name,
                'grouping': robot.base.grouping(k),
                'truth': None if truth is None else float(truth[k]),
            }
            for k, name in enumerate(robot.base.names)
        ],
    }


def _joint(robot: Robot, j: int) -> dict[str, Any]:
    joint, limits = robot.joints[j], robot.limits
    body = robot.kinematics.own_body(j)
    return {
        'name': joint.name,
        'type': 'prismatic' if robot.kinematics.prismatic[body] else 'revolute',
        **{
            key: finite_or_none(getattr(limits, key)[j])
            for key in ('lower', 'upper', 'velocity', 'acceleration', 'torque')
        },
        'gear_ratio': float(robot.drives.gear[j, j]),
        'drive_gain': joint.drive_gain,
        'rotor_inertia': joint.rotor_inertia,
        'friction': list(joint.friction),
    }


def _bodies(robot: Robot) -> list[dict[str, Any]]:
    kinematics = robot.kinematics
    return [
        {
            'joint': name,
            'parent': None
            if kinematics.parent[i] < 0
            else kinematics.body_names[kinematics.parent[i]],
            'xyz': _rounded(kinematics.translation[i]),
            'rpy': _rounded(pin.rpy.matrixToRpy(kinematics.rotation[i])),
            'axis': _rounded(kinematics.axis[i]),
        }
        for i, name in enumerate(kinematics.body_names)
    ]


def _mimics(robot: Robot) -> list[str]:
    kinematics = robot.kinematics
    return [
        f'{name} = {kinematics.ratio[i]:g} * {kinematics.joint_names[kinematics.dof[i]]}'
        f' + {kinematics.offset[i]:g}'
        for i, name in enumerate(kinematics.body_names)
        if name not in kinematics.joint_names
    ]


def _rounded(values: np.ndarray) -> list[float]:
    """Values without the rounding of an angle's sine."""
    return [float(x) for x in np.round(values, 12) + 0.0]
