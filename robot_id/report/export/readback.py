"""Reading an exported model again, and comparing its torques with those of the result."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.exceptions import DataError
from robot_id.model.urdf import load_model
from robot_id.report.export.possible import Bodies, lost_names

Array = NDArray[np.float64]
STATES = 1000
TOLERANCE = 1e-6


def random_states(bodies: Bodies) -> tuple[Array, Array, Array]:
    """(1000, n) positions, velocities and accelerations."""
    rng, shape = np.random.default_rng(0), (STATES, bodies.robot.n)
    return rng.uniform(-2.5, 2.5, shape), rng.normal(0, 1, shape), rng.normal(0, 3, shape)


def wanted(bodies: Bodies, states: tuple[Array, Array, Array], rotors: bool) -> Array:
    """(1000, n) torques of the result, less what the file has no place for."""
    x = bodies.x.copy()
    for name in lost_names(bodies, rotors):
        x[bodies.robot.standard_names.index(name)] = 0.0
    return dynamics.regressor(bodies.robot, *states, standard=True) @ x


def check_urdf(text: str, bodies: Bodies) -> str:
    """Return one line on how a URDF's torques agree, by pinocchio and by MuJoCo."""
    states = random_states(bodies)
    expected = wanted(bodies, states, rotors=False)
    lines = [judged('pinocchio', urdf_torques(text, bodies, states), expected)]
    if mujoco_here() and not _tied(bodies):
        torques = mujoco_torques(without_shapes(text), bodies, states)
        lines.append(judged('MuJoCo', torques, expected))
    return '; '.join(lines)


def check_mjcf(text: str, bodies: Bodies) -> str:
    """Return one line on how an MJCF's torques agree, by MuJoCo where it is installed."""
    if not mujoco_here():
        return 'not read again: MuJoCo is not installed'
    if _tied(bodies):
        return 'not compared: MuJoCo ties mimic joints by soft constraints'
    states = random_states(bodies)
    torques = mujoco_torques(text, bodies, states)
    return judged('MuJoCo', torques, wanted(bodies, states, rotors=True))


def _tied(bodies: Bodies) -> bool:
    """Whether there are mimic or locked joints, which MuJoCo does not take from these files."""
    kinematics = bodies.robot.kinematics
    return bool(len(kinematics.body_names) > bodies.robot.n or kinematics.locked)


def mujoco_torques(text: str, bodies: Bodies, states: tuple[Array, Array, Array]) -> Array:
    """(1000, n) torques of a model in MuJoCo: M ddq + bias, its damping and friction loss."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    model.opt.gravity[:] = bodies.robot.gravity
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    numbers = [model.joint(name).id for name in bodies.robot.joint_names]
    at, dof = model.jnt_qposadr[numbers], model.jnt_dofadr[numbers]
    torques = np.empty((STATES, bodies.robot.n))
    inertial = np.zeros(model.nv)
    for k, (q, dq, ddq) in enumerate(zip(*states)):
        data.qpos[at], data.qvel[dof] = q, dq
        mujoco.mj_forward(model, data)
        acceleration = np.zeros(model.nv)
        acceleration[dof] = ddq
        mujoco.mj_mulM(model, data, inertial, acceleration)
        dry = model.dof_frictionloss * np.sign(data.qvel)
        torques[k] = (inertial + data.qfrc_bias - data.qfrc_passive + dry)[dof]
    return torques


def judged(reader: str, torques: Array, expected: Array) -> str:
    """Return the largest relative difference in words; refuse one above 1e-6."""
    scale = np.maximum(np.abs(expected).max(axis=0), 1e-9)
    worst = float(np.max(np.abs(torques - expected) / scale))
    line = f'read again by {reader}: torques of {STATES} random states differ by {worst:.1e}'
    if not worst <= TOLERANCE:
        raise DataError(f'{line} of the largest, above {TOLERANCE:g}: the export is not right')
    return line


def urdf_torques(text: str, bodies: Bodies, states: tuple[Array, Array, Array]) -> Array:
    """(1000, n) torques of a URDF's text in pinocchio, with its own damping and friction."""
    robot, kinematics = bodies.robot, bodies.robot.kinematics
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'exported.urdf'
        path.write_text(text, encoding='utf-8')
        model = load_model(path, dict(kinematics.locked), robot.description.snap)
    model.gravity = pin.Motion(robot.gravity, np.zeros(3))
    data, A = model.createData(), kinematics.expansion()
    joints = [model.joints[model.getJointId(name)] for name in kinematics.body_names]
    torques = np.empty((STATES, robot.n))
    friction = [
        (model.damping[joint.idx_v], model.upperDryFrictionLimit[joint.idx_v])
        for joint in (model.joints[model.getJointId(name)] for name in robot.joint_names)
    ]
    damping, dry = np.array(friction).T
    for k, (q, dq, ddq) in enumerate(zip(*states)):
        full = pin.neutral(model)
        v, a = np.zeros(model.nv), np.zeros(model.nv)
        positions = A @ q + kinematics.offset
        for i, joint in enumerate(joints):
            angle = positions[i]
            full[joint.idx_q : joint.idx_q + joint.nq] = (
                [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
            )
            v[joint.idx_v], a[joint.idx_v] = A[i] @ dq, A[i] @ ddq
        tau = pin.rnea(model, data, full, v, a)
        torques[k] = A.T @ tau[[joint.idx_v for joint in joints]]
        torques[k] += damping * dq + dry * np.sign(dq)
    return torques


def mujoco_here() -> bool:
    """Whether MuJoCo is installed."""
    return importlib.util.find_spec('mujoco') is not None


def without_shapes(text: str) -> str:
    """Return a URDF without visual and collision tags: meshes need not be at hand."""
    return re.sub(r'<(visual|collision)\b.*?</\1\s*>', '', text, flags=re.S)
