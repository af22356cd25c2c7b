"""
The base parameters of a model from the torques that another program computes.

Torques are linear in the base parameters, and random states excite them all: the model's torques
on such states give them by least squares, wherever its frames stand. A residual means that the
model is of another robot.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.dynamics.mujoco_torques import mujoco_installed, mujoco_torques
from robot_id.exceptions import DataError, DescriptionError
from robot_id.robot import Robot
from robot_id.robot.files.sdf import SdfModel, read_sdf
from robot_id.robot.files.urdf_tags import one_line

Array = NDArray[np.float64]
States = tuple[Array, Array, Array]
# Of the largest torque: a file's rounded angles and lengths leave this much at most.
_SAME = 1e-3
_ROTOR = re.compile(r'Ia\d')


def states_of(robot: Robot) -> States:
    """(N, n) random positions, velocities and accelerations, enough for every parameter."""
    rng, shape = np.random.default_rng(0), (max(60, 4 * len(robot.base) // robot.n), robot.n)
    return rng.uniform(-2.5, 2.5, shape), rng.normal(0, 1, shape), rng.normal(0, 3, shape)


def parameters_of(robot: Robot, rigid: Array, friction: Array, source: str) -> Array:
    """
    (b,) base parameters with these torques along `states_of(robot)`.

    :param rigid: (N, n) torques of bodies and rotors, friction (N, n) of all else.
    :raises DataError: when no parameters of this robot have them.
    """
    W = dynamics.regressor(robot, *states_of(robot)).reshape(-1, len(robot.base))
    drives = {name for name in robot.terms.names if not _ROTOR.match(name)}
    other = np.array([name in drives for name in robot.base.names])
    chi = np.zeros(len(robot.base))
    chi[~other], left = _solve(W[:, ~other], rigid.ravel())
    if left > _SAME:
        raise DataError(
            f'{source}: no inertias of {robot.name} give its torques (they differ by '
            f'{100 * left:.2g} %): a joint has another position or axis',
            code='other_kinematics',
        )
    chi[other], left = _solve(W[:, other], friction.ravel())
    if left > 0.1:
        raise DataError(
            f'{source}: the friction terms of {robot.name} cannot express its friction, springs '
            f'or actuators ({100 * left:.2g} % of the torque remains)'
        )
    return chi


def mjcf_parameters(robot: Robot, path: Path) -> Array:
    """(b,) base parameters of an MJCF file of the same robot, as MuJoCo reads it."""
    if not mujoco_installed():
        raise DataError(f'{path}: MuJoCo must be installed to read it: pip install mujoco')
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise DataError(f'{path}: MuJoCo cannot read it ({one_line(error)})') from error
    found = mujoco_torques(model, robot, states_of(robot), str(path))
    return parameters_of(robot, found.rigid, found.friction, str(path))


def _solve(W: Array, Y: Array) -> tuple[Array, float]:
    """Return the least-squares solution, and the largest residual over the largest torque."""
    if not W.shape[1]:
        return np.zeros(0), float(np.any(Y))
    chi = np.asarray(np.linalg.lstsq(W, Y, rcond=None)[0], float)
    return chi, float(np.abs(Y - W @ chi).max() / max(np.abs(Y).max(), 1e-9))


def sdf_parameters(robot: Robot, path: Path) -> Array:
    """(b,) base parameters of an SDF file of the same robot."""
    try:
        read = read_sdf(path)
    except DescriptionError as error:
        raise DataError(str(error)) from error
    rigid, friction = sdf_torques(robot, read, states_of(robot), str(path))
    return parameters_of(robot, rigid, friction, str(path))


def sdf_torques(robot: Robot, read: SdfModel, states: States, source: str) -> tuple[Array, Array]:
    """
    (N, n) torques of the bodies of an SDF model by pinocchio, and those of its friction.

    Joints are found by name; those that the robot locks stand where it locks them.
    """
    model, kinematics = read.model, robot.kinematics
    for name in kinematics.body_names:
        if not model.existJointName(name):
            raise DataError(f"{source}: no joint '{name}'", joint=name)
    model.gravity = pin.Motion(robot.gravity, np.zeros(3))
    at = [model.joints[model.getJointId(name)].idx_v for name in kinematics.body_names]
    start = np.zeros(model.nq)
    for name, position in kinematics.locked.items():
        if model.existJointName(name):
            start[model.joints[model.getJointId(name)].idx_q] = position
    data, A = model.createData(), kinematics.expansion()
    damping, dry = np.array([read.dynamics[name] for name in robot.joint_names]).T
    rigid, v, a = np.empty_like(states[0]), np.zeros(model.nv), np.zeros(model.nv)
    for k, (q, dq, ddq) in enumerate(zip(*states)):
        full = start.copy()
        full[at], v[at], a[at] = A @ q + kinematics.offset, A @ dq, A @ ddq
        rigid[k] = A.T @ pin.rnea(model, data, full, v, a)[at]
    return rigid, states[1] * damping + np.sign(states[1]) * dry
