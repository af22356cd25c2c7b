"""MJCF: the bodies and joints of a robot for MuJoCo, with armature, damping and friction loss."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from robot_id.report.export.parts import Exported, Request
from robot_id.report.export.possible import (
    Bodies,
    bodies_of,
    central,
    friction_of,
    held_names,
    text_of,
)
from robot_id.report.export.readback import check_mjcf
from robot_id.report.export.sidecar import lost, sidecar


def write(request: Request) -> Exported:
    """Return the MuJoCo model; it has no shapes, they stay in the robot's own files."""
    bodies = bodies_of(request)
    notes = (*bodies.notes, *lost(bodies, 'MJCF', rotors=True))
    notes += (
        'MuJoCo smooths friction loss as a soft constraint: near rest it slides where Coulomb '
        'friction would hold',
    )
    if len(bodies.robot.kinematics.body_names) > bodies.robot.n:
        notes += ('mimic joints are tied by soft equality constraints',)
    return Exported(
        mjcf(bodies),
        {'.params.yaml': sidecar(request, bodies)},
        notes=notes,
        check=lambda written: check_mjcf(written, bodies),
    )


def mjcf(bodies: Bodies) -> str:
    """Return the model as text."""
    robot = bodies.robot
    lines = [
        f'<mujoco model="{robot.name}">',
        '  <compiler angle="radian" autolimits="true"/>',
        f'  <option gravity="{text_of(robot.gravity)}" integrator="implicitfast"/>',
        '  <worldbody>',
    ]
    for i in np.flatnonzero(robot.kinematics.parent < 0):
        lines += _body(bodies, int(i), '    ')
    return '\n'.join([*lines, '  </worldbody>', *_equalities(bodies), '</mujoco>', ''])


def _body(bodies: Bodies, i: int, indent: str) -> list[str]:
    kinematics = bodies.robot.kinematics
    name = kinematics.body_names[i]
    quat = pin.Quaternion(kinematics.rotation[i]).coeffs()[[3, 0, 1, 2]]
    m, c, tensor = central(bodies.rows[i])
    # MuJoCo orders the full inertia xx yy zz xy xz yz.
    full = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    lines = [
        f'{indent}<body name="link_{name}" pos="{text_of(kinematics.translation[i])}" '
        f'quat="{text_of(quat)}">',
        f'{indent}  <inertial pos="{text_of(c)}" mass="{m!r}" fullinertia="{text_of(full)}"/>',
        f'{indent}  {_joint(bodies, i)}',
    ]
    for child in np.flatnonzero(kinematics.parent == i):
        lines += _body(bodies, int(child), indent + '  ')
    return [*lines, f'{indent}</body>']


def _joint(bodies: Bodies, i: int) -> str:
    robot, kinematics = bodies.robot, bodies.robot.kinematics
    name = kinematics.body_names[i]
    kind = 'slide' if kinematics.prismatic[i] else 'hinge'
    text = f'<joint name="{name}" type="{kind}" axis="{text_of(kinematics.axis[i])}"'
    if name in robot.joint_names:
        j = robot.joint_names.index(name)
        damping, friction = friction_of(bodies, j + 1)
        direct = {robot.standard_names[rotor] for rotor, _, _ in robot.direct_columns}
        rotor = f'Ia{j + 1}'
        held = rotor in held_names(bodies, rotors=True) - direct
        armature = bodies.value(rotor) if held else 0.0
        text += f' damping="{damping!r}" frictionloss="{friction!r}" armature="{armature!r}"'
        lower, upper = robot.limits.lower[j], robot.limits.upper[j]
        if np.isfinite(lower) and np.isfinite(upper):
            text += f' range="{text_of([lower, upper])}"'
    return text + '/>'


def _equalities(bodies: Bodies) -> list[str]:
    kinematics = bodies.robot.kinematics
    tied = [
        f'    <joint joint1="{name}" joint2="{kinematics.joint_names[kinematics.dof[i]]}" '
        f'polycoef="{text_of([kinematics.offset[i], kinematics.ratio[i], 0, 0, 0])}"/>'
        for i, name in enumerate(kinematics.body_names)
        if name not in kinematics.joint_names
    ]
    return ['  <equality>', *tied, '  </equality>'] if tied else []
