"""Torques of a MuJoCo model at the joints of a robot: an independent check of the same bodies."""

from __future__ import annotations

import importlib.util
from typing import Any, NamedTuple

import numpy as np

from robot_id.dynamics.states import Array
from robot_id.exceptions import DataError
from robot_id.robot import Robot


class MujocoTorques(NamedTuple):
    """
    Torques (N, n) along some states.

    :param rigid: bodies, armatures and gravity, M(q) ddq + h(q, dq).
    :param friction: damping and friction loss of joints and tendons, springs and torques of the
        actuators without a command (an offset).
    """

    rigid: Array
    friction: Array


def mujoco_installed() -> bool:
    """Whether MuJoCo is installed."""
    return importlib.util.find_spec('mujoco') is not None


def mujoco_torques(
    model: Any, robot: Robot, states: tuple[Array, Array, Array], source: str = 'MuJoCo'
) -> MujocoTorques:
    """
    Return the torques of a compiled model under the gravity of the robot.

    Joints are found by name. Those that mimic another follow it, those that the robot locks keep
    the locked position, all others the initial position of the model; contacts and limits are left
    out.

    :param model: mujoco.MjModel.
    :param states: (N, n) positions, velocities and accelerations.
    :param source: of the model, for errors.
    """
    import mujoco

    kinematics = robot.kinematics
    A = kinematics.expansion()
    at, dof = _places(model, kinematics.body_names, source)
    model.opt.gravity[:] = robot.gravity
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    start = data.qpos.copy()
    for name, position in kinematics.locked.items():
        if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) >= 0:
            start[model.jnt_qposadr[model.joint(name).id]] = position
    rigid, friction = np.empty_like(states[0]), np.empty_like(states[0])
    inertial = np.zeros(model.nv)
    for k, (q, dq, ddq) in enumerate(zip(*states)):
        data.qpos[:], data.qvel[:] = start, 0.0
        data.qpos[at], data.qvel[dof] = A @ q + kinematics.offset, A @ dq
        mujoco.mj_forward(model, data)
        acceleration = np.zeros(model.nv)
        acceleration[dof] = A @ ddq
        mujoco.mj_mulM(model, data, inertial, acceleration)
        rigid[k] = A.T @ (inertial + data.qfrc_bias)[dof]
        passive = data.qfrc_passive + data.qfrc_actuator - _dry(model, data)
        friction[k] = -(A.T @ passive[dof])
    return MujocoTorques(rigid, friction)


def _places(model: Any, names: tuple[str, ...], source: str) -> tuple[Array, Array]:
    """Return the indices of the joints in positions and velocities."""
    import mujoco

    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    numbers = []
    for name in names:
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if number < 0:
            raise DataError(f"{source}: no joint '{name}'", joint=name)
        if model.jnt_type[number] not in kinds:
            raise DataError(f"{source}: joint '{name}' neither turns nor slides", joint=name)
        numbers.append(number)
    return model.jnt_qposadr[numbers], model.jnt_dofadr[numbers]


def _dry(model: Any, data: Any) -> Array:
    """(nv,) friction loss of joints and fixed tendons; MuJoCo holds it as soft constraints."""
    import mujoco

    dry = np.array(model.dof_frictionloss * np.sign(data.qvel), float)
    for k in np.flatnonzero(model.tendon_frictionloss):
        parts = slice(model.tendon_adr[k], model.tendon_adr[k] + model.tendon_num[k])
        if np.any(model.wrap_type[parts] != int(mujoco.mjtWrap.mjWRAP_JOINT)):
            continue
        dof = model.jnt_dofadr[model.wrap_objid[parts]]
        dry[dof] += (
            model.wrap_prm[parts] * model.tendon_frictionloss[k] * np.sign(data.ten_velocity[k])
        )
    return dry
