"""SDF: the bodies and joints of a robot for Gazebo, and other programs that read SDFormat."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from robot_id.export.held_drives import (
    Bodies,
    HeldDrives,
    bodies_of,
    central,
    held_drives,
    text_of,
)
from robot_id.export.parts import Exported, Request
from robot_id.export.readback import check_sdf
from robot_id.export.sidecar import lost_without_rotors, sidecar
from robot_id.texts import xml_attribute, xml_text


def write(request: Request) -> Exported:
    """Return the SDF model; it has no shapes, shapes stay in the robot's own files."""
    bodies = bodies_of(request)
    held = held_drives(bodies)
    notes = (*bodies.notes, *lost_without_rotors(bodies, held, 'SDF'))
    return Exported(
        sdf(bodies, held),
        {'.params.yaml': sidecar(request, bodies)},
        notes=notes,
        check=lambda written: check_sdf(written, bodies, held),
    )


def sdf(bodies: Bodies, held: HeldDrives) -> str:
    """Return the model as text: a base fixed to the world, and a link for every moving body."""
    robot = bodies.robot
    # <mimic> came with 1.11.
    tied = len(robot.kinematics.body_names) > robot.n
    lines = [
        '<?xml version="1.0"?>',
        f'<sdf version="{"1.11" if tied else "1.9"}">',
        f'  <model name={xml_attribute(robot.name)}>',
        '    <link name="base_link"/>',
        '    <joint name="base_to_world" type="fixed">',
        '      <parent>world</parent>',
        '      <child>base_link</child>',
        '    </joint>',
    ]
    for i in range(len(robot.kinematics.body_names)):
        lines += [*_joint(bodies, held, i), *_link(bodies, i)]
    return '\n'.join([*lines, '  </model>', '</sdf>', ''])


def _link(bodies: Bodies, i: int) -> list[str]:
    name = bodies.robot.kinematics.body_names[i]
    m, c, tensor = central(bodies.rows[i])
    keys = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    moments = ''.join(
        f'<{key}>{float(v)!r}</{key}>' for key, v in zip(keys, tensor[np.triu_indices(3)])
    )
    return [
        f'    <link name={xml_attribute(f"link_{name}")}>',
        f'      <pose relative_to={xml_attribute(name)}>0 0 0 0 0 0</pose>',
        '      <inertial>',
        f'        <pose>{text_of(c)} 0 0 0</pose>',
        f'        <mass>{m!r}</mass>',
        f'        <inertia>{moments}</inertia>',
        '      </inertial>',
        '    </link>',
    ]


def _joint(bodies: Bodies, held: HeldDrives, i: int) -> list[str]:
    robot, kinematics = bodies.robot, bodies.robot.kinematics
    name, u = kinematics.body_names[i], int(kinematics.parent[i])
    parent = 'base_link' if u < 0 else f'link_{kinematics.body_names[u]}'
    rpy = pin.rpy.matrixToRpy(kinematics.rotation[i])
    place = f'{text_of(kinematics.translation[i])} {text_of(rpy)}'
    kind = 'prismatic' if kinematics.prismatic[i] else 'revolute'
    inner = [f'<xyz>{text_of(kinematics.axis[i])}</xyz>']
    if name in robot.joint_names:
        j = robot.joint_names.index(name)
        inner.append(_limit(bodies, j))
        inner.append(
            f'<dynamics><damping>{float(held.damping[j])!r}</damping>'
            f'<friction>{float(held.dry[j])!r}</friction></dynamics>'
        )
    else:
        master = kinematics.joint_names[kinematics.dof[i]]
        inner.append(
            f'<mimic joint={xml_attribute(master)}><multiplier>{float(kinematics.ratio[i])!r}'
            f'</multiplier><offset>{float(kinematics.offset[i])!r}</offset>'
            '<reference>0</reference></mimic>'
        )
    return [
        f'    <joint name={xml_attribute(name)} type="{kind}">',
        f'      <pose relative_to={xml_attribute(parent)}>{place}</pose>',
        f'      <parent>{xml_text(parent)}</parent>',
        f'      <child>{xml_text(f"link_{name}")}</child>',
        '      <axis>',
        *(f'        {line}' for line in inner),
        '      </axis>',
        '    </joint>',
    ]


def _limit(bodies: Bodies, j: int) -> str:
    """Return the limits that are known; limits that are missing in SDF are infinite."""
    limits = bodies.robot.limits
    values = {
        'lower': limits.lower[j],
        'upper': limits.upper[j],
        'effort': limits.torque[j],
        'velocity': limits.velocity[j],
    }
    known = (f'<{k}>{float(v)!r}</{k}>' for k, v in values.items() if np.isfinite(v))
    return f'<limit>{"".join(known)}</limit>'
