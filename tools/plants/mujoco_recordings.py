"""
Arms on MuJoCo, an engine that is not ours: recordings with a known truth.

An arm gets friction, rotor inertia and a stiff controller, and plays a random motion within its
limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants.mujoco_arms import Arm

from robot_id.data.dataset import Dataset, Run

Array = NDArray[np.float64]
# The simulated controller.
CONTROL_HZ, BANDWIDTH_HZ = 1000.0, 8.0
# Time constant of the friction constraint (MuJoCo takes two steps at least) and its impedance.
SHORTEST_S, HARDEST = 1e-5, 0.999


def compile_model(urdf: Path, gravity: Array) -> Any:
    """Return the MuJoCo model of a chain."""
    import mujoco

    text = urdf.read_text()
    options = (
        '<mujoco><compiler fusestatic="true" discardvisual="true" balanceinertia="true" '
        'boundmass="1e-4" boundinertia="1e-7"/></mujoco>'
    )
    head = text.index('>', text.index('<robot')) + 1
    model = mujoco.MjModel.from_xml_string(text[:head] + options + text[head:])
    model.opt.gravity[:] = gravity
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.jnt_limited[:] = 0
    model.dof_damping[:] = 0.0
    model.dof_frictionloss[:] = 0.0
    return model


def harden_friction(model: Any) -> None:
    """
    Let dry friction turn with the velocity, for any inertia.

    It is a soft constraint: below its limit it grows as c M v, with c = 1000/s by default, so that
    a wrist of 1e-5 kg m2 has a viscous friction in its place, and no truth to compare with.
    """
    model.dof_solref[:, 0] = SHORTEST_S
    model.dof_solimp[:, :2] = HARDEST


@dataclass(frozen=True)
class Motion:
    """
    A random Fourier series of each joint.

    :param seconds: length of the recording.
    :param rate: Hz.
    :param still: joints that hold their position.
    :param amplitude: fraction of the usual amplitude.
    :param synchronous: all joints follow one and the same sine.
    :param rests: it begins and ends at rest.
    """

    seconds: float = 16.0
    rate: float = 250.0
    still: tuple[int, ...] = ()
    amplitude: float = 1.0
    synchronous: bool = False
    rests: bool = False


PLAIN = Motion()


def reference(model: Any, motion: Motion, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return (N, n) position, velocity and acceleration of a random motion within the limits."""
    n = model.nv
    t = np.arange(int(motion.seconds * motion.rate)) / motion.rate
    harmonics = np.arange(1, 7)
    w = 2 * np.pi * rng.uniform(0.08, 0.15) * harmonics
    a, b = rng.normal(size=(2, n, harmonics.size)) / np.sqrt(harmonics)
    if motion.synchronous:
        a, b = np.zeros_like(a), np.zeros_like(b)
        b[:, 0] = 1.0
    own, speed, change = t, np.ones(len(t)), np.zeros(len(t))
    if motion.rests:
        turn = 2 * np.pi / motion.seconds
        own, speed, change = t - np.sin(turn * t) / turn, 1 - np.cos(turn * t), np.sin(turn * t)
        change = turn * change
    c, s = np.cos(np.outer(own, w)), np.sin(np.outer(own, w))
    q, slope, ddq = c @ a.T + s @ b.T, (c * w) @ b.T - (s * w) @ a.T, -(c * w**2) @ a.T
    ddq -= (s * w**2) @ b.T
    dq, ddq = slope * speed[:, None], ddq * speed[:, None] ** 2 + slope * change[:, None]
    low, high = model.jnt_range[:, 0].copy(), model.jnt_range[:, 1].copy()
    free = ~((high > low) & np.isfinite(high - low))
    low[free], high[free] = -np.pi, np.pi
    slides = model.jnt_type == 2
    reach = np.minimum(0.45 * (high - low), np.where(slides, 1.0, rng.uniform(0.7, 1.4, n)))
    scale = motion.amplitude * reach / np.abs(q).max(axis=0)
    scale = np.minimum(scale, 3.0 / np.maximum(np.abs(dq).max(axis=0), 1e-9))
    scale[list(motion.still)] = 0.0
    room = np.maximum(0.5 * (high - low) - np.abs(q * scale).max(axis=0), 0.0)
    middle = 0.5 * (low + high) + rng.uniform(-1, 1, n) * np.minimum(room, 1.0)
    return q * scale + middle, dq * scale, ddq * scale


@dataclass(frozen=True)
class Recording:
    """
    What was recorded.

    :param dataset: of the recording, SI on the joint side.
    :param rotor: (n,) rotor inertias of the plant, kg.m^2.
    """

    dataset: Dataset
    rotor: Array


def record(
    arm: Arm,
    rng: np.random.Generator,
    motion: Motion = PLAIN,
    velocity: bool = True,
    noise: float = 1.0,
    inertia_spread: float = 0.0,
    friction: float = 1.0,
    more: tuple[Motion, ...] = (),
) -> Recording:
    """
    Simulate an arm under computed torque with rotor inertia, friction and noise.

    :param more: further motions of the same arm, a run each.

    :param noise: 1: encoder steps of 2e-5 rad to 2e-4 rad, torque noise of 0.3 to 1.5 %.
    :param inertia_spread: standard deviation (of the logarithm) by which the masses of the plant
        differ from those of the URDF.
    :param friction: 1: Coulomb and viscous friction of 3 to 15 % of the rigid torques each.
    """
    import mujoco

    model = compile_model(arm.urdf, arm.gravity)
    n = model.nv
    if inertia_spread:
        factor = np.exp(rng.normal(0.0, inertia_spread, model.nbody))
        model.body_mass[:] *= factor
        model.body_inertia[:] *= factor[:, None]
    # The controller runs at 1 kHz or faster, whatever the rate of the recording.
    every = int(np.ceil(CONTROL_HZ / motion.rate))
    motions = [reference(model, replace(m, rate=every * m.rate), rng) for m in (motion, *more)]
    data = mujoco.MjData(model)
    M = add_gears(model, data, motions[0], rng, friction, friction)
    step = noise * 10 ** rng.uniform(np.log10(2e-5), np.log10(2e-4), n)
    size, runs = np.zeros(n), []
    for each in motions:
        states = _closed_loop(model, data, every * motion.rate, *each, M)
        q, dq, tau = (values[::every] for values in states)
        if noise:
            q = np.round(q / step) * step
            unit = noise * rng.normal(size=tau.shape)
            if not runs:
                size = np.sqrt((tau**2).mean(axis=0)) * rng.uniform(0.003, 0.015, n)
            tau = tau + unit * size
            dq = dq + noise * rng.normal(size=dq.shape) * 2e-3
        t = np.arange(len(q)) / motion.rate
        runs.append(Run(time=t, position=q, torque=tau, velocity=dq if velocity else None))
    names = tuple(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(n))
    return Recording(Dataset(names, tuple(runs), arm.name), model.dof_armature.copy())


def add_gears(
    model: Any,
    data: Any,
    motion: tuple[Array, Array, Array],
    rng: np.random.Generator,
    coulomb: float = 1.0,
    viscous: float = 1.0,
) -> Array:
    """
    Give a model rotors and friction for a motion, and return (n,) the mean M_jj of its links.

    :param coulomb: 1: Coulomb friction of 3 to 15 % of the rigid torques.
    :param viscous: 1: viscous friction of 3 to 12 % of them at the rms velocity.
    """
    import mujoco

    q, dq, _ = motion
    alone = rigid(model, data, *motion)
    size = np.maximum(np.sqrt((alone**2).mean(axis=0)), 0.05 * np.abs(alone).max())
    M = inertias(model, data, q[:: max(len(q) // 20, 1)])
    model.dof_armature[:] = M * rng.uniform(0.1, 0.6, model.nv)
    model.dof_frictionloss[:] = coulomb * size * rng.uniform(0.03, 0.15, model.nv)
    speed = np.maximum(np.sqrt((dq**2).mean(axis=0)), 0.05)
    model.dof_damping[:] = viscous * size * rng.uniform(0.03, 0.12, model.nv) / speed
    mujoco.mj_setConst(model, data)
    return M


def rigid(model: Any, data: Any, q: Array, dq: Array, ddq: Array) -> Array:
    """(M, n) torques of the rigid bodies along a motion, one sample in ten."""
    import mujoco

    out = []
    for k in range(0, len(q), 10):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        out.append(data.qfrc_inverse.copy())
    return np.array(out)


def inertias(model: Any, data: Any, q: Array) -> Array:
    """(n,) mean of M_jj over some postures."""
    import mujoco

    M, diagonals = np.zeros((model.nv, model.nv)), []
    for each in q:
        data.qpos[:], data.qvel[:] = each, 0.0
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, M)
        diagonals.append(np.diag(M).copy())
    return np.mean(diagonals, axis=0)


def _closed_loop(
    model: Any, data: Any, rate: float, q_r: Array, dq_r: Array, ddq_r: Array, J: Array
) -> tuple[Array, Array, Array]:
    """Run controller and plant at this rate."""
    import mujoco

    model.opt.timestep = 1.0 / rate
    N, n = q_r.shape
    q, dq, tau = np.empty((N, n)), np.empty((N, n)), np.empty((N, n))
    inertia = J + model.dof_armature
    w = 2 * np.pi * BANDWIDTH_HZ
    data.qpos[:], data.qvel[:] = q_r[0], dq_r[0]
    for k in range(N):
        mujoco.mj_forward(model, data)
        q[k], dq[k] = data.qpos, data.qvel
        a = ddq_r[k] + 2 * w * (dq_r[k] - dq[k]) + w**2 * (q_r[k] - q[k])
        friction = model.dof_frictionloss * np.tanh(50 * dq_r[k]) + model.dof_damping * dq_r[k]
        tau[k] = inertia * a + data.qfrc_bias + 0.8 * friction
        data.qfrc_applied[:] = tau[k]
        mujoco.mj_step(model, data)
    # The command acts from one sample to the next: the mean with the one before lines it up.
    held = tau.copy()
    held[1:] = 0.5 * (tau[1:] + tau[:-1])
    return q, dq, held
