"""A bare URDF of a robot that has none: links and joints of its MDH table."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from robot_id.model import Robot
from robot_id.report.export.possible import text_of
from robot_id.texts import xml_attribute


def skeleton(robot: Robot) -> str:
    """Return a URDF with the joints of a robot; its links have neither inertia nor shape."""
    kinematics = robot.kinematics
    links = [f'link_{name}' for name in kinematics.body_names]
    lines = [
        '<?xml version="1.0"?>',
        f'<robot name={xml_attribute(robot.name)}>',
        '  <link name="base_link"/>',
    ]
    for i, name in enumerate(kinematics.body_names):
        parent = 'base_link' if kinematics.parent[i] < 0 else links[kinematics.parent[i]]
        j = int(kinematics.dof[i])
        lower, upper = robot.limits.lower[j], robot.limits.upper[j]
        bounded = bool(np.isfinite(lower) and np.isfinite(upper))
        kind = 'prismatic' if kinematics.prismatic[i] else 'revolute' if bounded else 'continuous'
        if not bounded:
            lower, upper = -1e3, 1e3
        speed, effort = (
            float(v) if np.isfinite(v) else 1e3
            for v in (robot.limits.velocity[j], robot.limits.torque[j])
        )
        rpy = text_of(pin.rpy.matrixToRpy(kinematics.rotation[i]))
        lines += [
            f'  <joint name={xml_attribute(name)} type="{kind}">',
            f'    <parent link={xml_attribute(parent)}/>',
            f'    <child link={xml_attribute(links[i])}/>',
            f'    <origin xyz="{text_of(kinematics.translation[i])}" rpy="{rpy}"/>',
            f'    <axis xyz="{text_of(kinematics.axis[i])}"/>',
            f'    <limit lower="{float(lower)!r}" upper="{float(upper)!r}" velocity="{speed!r}" '
            f'effort="{effort!r}"/>',
            '  </joint>',
            f'  <link name={xml_attribute(links[i])}/>',
        ]
    return '\n'.join([*lines, '</robot>', ''])
