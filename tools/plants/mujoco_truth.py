"""Arms on MuJoCo with the parameters that they have: do intervals hold on a foreign plant?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants.mujoco_arms import Arm
from plants.mujoco_recordings import (
    BANDWIDTH_HZ,
    CONTROL_HZ,
    Motion,
    add_gears,
    compile_model,
    reference,
)

from robot_id.data.dataset import Dataset, Run
from robot_id.dynamics.regressor import regressor
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Steps of the plant for each sample of its controller.
SUBSTEPS = 4
# Random states that determine the parameters.
STATES = 300


def truthful(
    arm: Arm, rng: np.random.Generator, motion: Motion, coulomb: float = 1.0
) -> tuple[Dataset, Any]:
    """
    Return a recording of an arm, and its MuJoCo model.

    The controller holds its command from sample to sample, and the command is recorded, with white
    noise; positions come in encoder steps.

    :param coulomb: factor of the Coulomb friction.
    """
    import mujoco

    model = compile_model(arm.urdf, arm.gravity)
    n, every = model.nv, int(np.ceil(CONTROL_HZ / motion.rate))
    fast = Motion(motion.seconds, every * motion.rate)
    q_r, dq_r, ddq_r = reference(model, fast, rng)
    data = mujoco.MjData(model)
    M = add_gears(model, data, (q_r, dq_r, ddq_r), rng, coulomb)
    model.opt.timestep = 1.0 / (fast.rate * SUBSTEPS)
    step = 10 ** rng.uniform(np.log10(2e-5), np.log10(2e-4), n)
    inertia, w = M + model.dof_armature, 2 * np.pi * BANDWIDTH_HZ
    q, tau = np.empty_like(q_r), np.empty_like(q_r)
    data.qpos[:], data.qvel[:] = q_r[0], dq_r[0]
    for k in range(len(q_r)):
        mujoco.mj_forward(model, data)
        q[k] = data.qpos
        a = ddq_r[k] + 2 * w * (dq_r[k] - data.qvel) + w**2 * (q_r[k] - q[k])
        friction = model.dof_frictionloss * np.tanh(50 * dq_r[k]) + model.dof_damping * dq_r[k]
        tau[k] = inertia * a + data.qfrc_bias + 0.8 * friction
        data.qfrc_applied[:] = tau[k]
        for _ in range(SUBSTEPS):
            mujoco.mj_step(model, data)
    q, tau = np.round(q[::every] / step) * step, tau[::every]
    peak = np.sqrt((tau**2).mean(axis=0))
    tau = tau + rng.normal(size=tau.shape) * peak * rng.uniform(0.003, 0.015, n)
    run = Run(time=np.arange(len(q)) / motion.rate, position=q, torque=tau)
    return Dataset(joint_names(model), (run,), arm.name), model


def add_damping_of_a_step(model: Any) -> None:
    """
    Add to the rotors of a plant what its integration adds: half a step of the viscous friction.

    MuJoCo takes the velocity at the end of each step h for damping: Fv (dq + h/2 ddq), which is a
    rotor inertia of Fv h/2, 0.1 % of some that are known to 0.02 %.
    """
    model.dof_armature[:] += 0.5 * model.opt.timestep * model.dof_damping


def joint_names(model: Any) -> tuple[str, ...]:
    """Return the names of a model's joints."""
    import mujoco

    kind = mujoco.mjtObj.mjOBJ_JOINT
    return tuple(mujoco.mj_id2name(model, kind, j) for j in range(model.nv))


def true_parameters(robot: Robot, model: Any, rng: np.random.Generator) -> Array:
    """
    (b,) base parameters of a MuJoCo model: those that give its torques at random states.

    Its inverse dynamics give the rigid torques; friction is added as it is meant.
    """
    import mujoco

    n, data = model.nv, mujoco.MjData(model)
    q, dq = rng.uniform(-2.0, 2.0, (STATES, n)), rng.normal(size=(STATES, n))
    ddq = 3.0 * rng.normal(size=(STATES, n))
    coulomb, viscous = model.dof_frictionloss.copy(), model.dof_damping.copy()
    model.dof_frictionloss[:], model.dof_damping[:] = 0.0, 0.0
    tau = np.empty((STATES, n))
    for k in range(STATES):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        tau[k] = data.qfrc_inverse + viscous * dq[k] + coulomb * np.sign(dq[k])
    model.dof_frictionloss[:], model.dof_damping[:] = coulomb, viscous
    order = [joint_names(model).index(name) for name in robot.joint_names]
    W = regressor(robot, q[:, order], dq[:, order], ddq[:, order]).reshape(STATES * n, -1)
    Y = tau[:, order].ravel()
    chi = np.linalg.lstsq(W, Y, rcond=None)[0]
    if np.linalg.norm(W @ chi - Y) > 1e-4 * np.linalg.norm(Y):
        raise ValueError(f'{robot.name}: the robot file does not describe the MuJoCo model')
    return np.asarray(chi)
