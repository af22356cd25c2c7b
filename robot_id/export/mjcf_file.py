"""
MJCF: the bodies, joints and drives of a robot for MuJoCo.

A motor that turns with several joints is a fixed tendon of length c . q: its armature adds J c c^T
to M(q), its damping and friction loss act on c . dq. An actuator takes the joint torque as its
command, less the offset that was identified.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from robot_id.dynamics import inertia_matrix
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.export.held_drives import (
    Bodies,
    HeldDrives,
    bodies_of,
    central,
    held_drives,
    text_of,
)
from robot_id.export.parts import Exported, Request
from robot_id.export.readback import check_mjcf
from robot_id.export.sidecar import lost, sidecar
from robot_id.texts import xml_attribute

# Steps in s. MuJoCo's own integrators are of first order: a position that is half a step off is
# felt by a stiff loop (2 % of the torque of a TX40's wrist); its RK4 is not.
STEP = 0.00025
# Time constant of friction loss, s: with MuJoCo's default of 20 ms friction changes sign far too
# softly. It raises ours to two of its steps. Impedance: a joint at rest creeps with 1 - this of
# its push.
SHARP, HOLD = 0.0001, 0.999
FRICTION = f'solreffriction="{SHARP} 1" solimpfriction="{HOLD} {HOLD} 0.001"'


def write(request: Request) -> Exported:
    """Return the MuJoCo model; it has no shapes, shapes stay in the robot's own files."""
    bodies = bodies_of(request)
    held = held_drives(bodies, rotors=True, shafts=True, offsets=True)
    notes = (*bodies.notes, *lost(held, 'MJCF'))
    notes += (
        'MuJoCo smooths friction loss as a soft constraint: near rest it creeps where Coulomb '
        f'friction would hold, less with a short timestep (the file asks for {STEP} s)',
    )
    stiff = fastest_rate(bodies, held) * STEP > 1.0
    if stiff:
        notes += (
            'the damping of a light joint is too fast for RK4: the file asks for implicitfast, '
            'whose positions are half a step off',
        )
    if np.any(held.offset):
        notes += ('the offsets act in the actuators: give torques to ctrl, not to qfrc_applied',)
    if held.shafts:
        notes += (
            'coupled motors are tendons with armature: a MuJoCo too old for them refuses the file',
        )
    if len(bodies.robot.kinematics.body_names) > bodies.robot.n:
        notes += ('mimic joints are tied by soft equality constraints',)
    return Exported(
        mjcf(bodies, held, 'implicitfast' if stiff else 'RK4'),
        {'.params.yaml': sidecar(request, bodies)},
        notes=notes,
        check=lambda written: check_mjcf(written, bodies, held),
    )


def fastest_rate(bodies: Bodies, held: HeldDrives) -> float:
    """
    Return the largest rate of damping in 1/s, the largest eigenvalue of M(q)^-1 D.

    D holds the damping of joints and shafts, M is evaluated in some postures. An explicit step
    much longer than its inverse blows up.
    """
    robot = bodies.robot
    D = np.diag(held.damping) + sum(s.damping * np.outer(s.c, s.c) for s in held.shafts)
    chi = robot.base.from_standard(bodies.x)
    M = inertia_matrix(robot, chi, sample_configurations(robot, 16))
    return float(np.abs(np.linalg.eigvals(np.linalg.solve(M, D[None]))).max(initial=0.0))


def mjcf(bodies: Bodies, held: HeldDrives, integrator: str) -> str:
    """Return the model as text."""
    robot = bodies.robot
    lines = [
        f'<mujoco model={xml_attribute(robot.name)}>',
        '  <compiler angle="radian" autolimits="true"/>',
        f'  <option gravity="{text_of(robot.gravity)}" timestep="{STEP}" '
        f'integrator="{integrator}"/>',
        '  <worldbody>',
    ]
    for i in np.flatnonzero(robot.kinematics.parent < 0):
        lines += _body(bodies, held, int(i), '    ')
    lines += ['  </worldbody>', *_tendons(bodies, held), *_equalities(bodies)]
    return '\n'.join([*lines, *_actuators(bodies, held), '</mujoco>', ''])


def _body(bodies: Bodies, held: HeldDrives, i: int, indent: str) -> list[str]:
    kinematics = bodies.robot.kinematics
    name = xml_attribute(f'link_{kinematics.body_names[i]}')
    quat = pin.Quaternion(kinematics.rotation[i]).coeffs()[[3, 0, 1, 2]]
    m, c, tensor = central(bodies.rows[i])
    # MuJoCo orders the full inertia xx yy zz xy xz yz.
    full = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    lines = [
        f'{indent}<body name={name} pos="{text_of(kinematics.translation[i])}" '
        f'quat="{text_of(quat)}">',
        f'{indent}  <inertial pos="{text_of(c)}" mass="{m!r}" fullinertia="{text_of(full)}"/>',
        f'{indent}  {_joint(bodies, held, i)}',
    ]
    for child in np.flatnonzero(kinematics.parent == i):
        lines += _body(bodies, held, int(child), indent + '  ')
    return [*lines, f'{indent}</body>']


def _joint(bodies: Bodies, held: HeldDrives, i: int) -> str:
    robot, kinematics = bodies.robot, bodies.robot.kinematics
    name = kinematics.body_names[i]
    kind = 'slide' if kinematics.prismatic[i] else 'hinge'
    text = f'<joint name={xml_attribute(name)} type="{kind}" axis="{text_of(kinematics.axis[i])}"'
    if name in robot.joint_names:
        j = robot.joint_names.index(name)
        text += (
            f' damping="{float(held.damping[j])!r}" frictionloss="{float(held.dry[j])!r}" '
            f'{FRICTION} armature="{float(held.armature[j])!r}"'
        )
        lower, upper = robot.limits.lower[j], robot.limits.upper[j]
        if np.isfinite(lower) and np.isfinite(upper):
            text += f' range="{text_of([lower, upper])}"'
    return text + '/>'


def _tendons(bodies: Bodies, held: HeldDrives) -> list[str]:
    lines = []
    for shaft in held.shafts:
        lines += [
            f'    <fixed name={xml_attribute(f"motor_{shaft.joint}")} '
            f'armature="{shaft.armature!r}" damping="{shaft.damping!r}" '
            f'frictionloss="{shaft.dry!r}" {FRICTION}>',
            *(
                f'      <joint joint={xml_attribute(bodies.robot.joint_names[i])} '
                f'coef="{float(shaft.c[i])!r}"/>'
                for i in np.flatnonzero(shaft.c)
            ),
            '    </fixed>',
        ]
    return ['  <tendon>', *lines, '  </tendon>'] if lines else []


def _equalities(bodies: Bodies) -> list[str]:
    kinematics = bodies.robot.kinematics
    tied = [
        f'    <joint joint1={xml_attribute(name)} '
        f'joint2={xml_attribute(kinematics.joint_names[kinematics.dof[i]])} '
        f'polycoef="{text_of([kinematics.offset[i], kinematics.ratio[i], 0, 0, 0])}"/>'
        for i, name in enumerate(kinematics.body_names)
        if name not in kinematics.joint_names
    ]
    return ['  <equality>', *tied, '  </equality>'] if tied else []


def _actuators(bodies: Bodies, held: HeldDrives) -> list[str]:
    """Return one actuator per joint: force = ctrl - offset, ctrl within the torque limits."""
    lines = []
    for j, name in enumerate(bodies.robot.joint_names):
        limit = float(bodies.robot.limits.torque[j])
        span = f' ctrlrange="{-limit!r} {limit!r}"' if np.isfinite(limit) and limit > 0.0 else ''
        lines.append(
            f'    <general name={xml_attribute(name)} joint={xml_attribute(name)} gainprm="1" '
            f'biastype="affine" biasprm="{-float(held.offset[j])!r} 0 0"{span}/>'
        )
    return ['  <actuator>', *lines, '  </actuator>']
