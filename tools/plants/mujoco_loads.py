"""
Arms on MuJoCo with and without a load on their last link, and gears that no model here has.

The friction grows with the load, turns with a Stribeck hump and drifts from one recording to the
next, as does the offset of the torque: what a real arm does between two recordings.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants import mujoco_arms, mujoco_recordings

from robot_id.data.dataset import Dataset, Run
from robot_id.robot import Payload, Robot, load_robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gears:
    """
    What the joints of a plant do beside the rigid bodies.

    :param rotor: (n,) rotor inertias.
    :param coulomb: (n,) N.m.
    :param viscous: (n,) N.m.s/rad.
    :param hump: (n,) Stribeck: friction at rest over the Coulomb one, less one.
    :param by_load: (n,) friction for each N.m of the rigid torque.
    :param noise: (n,) of the recorded torque.
    """

    rotor: Array
    coulomb: Array
    viscous: Array
    hump: Array
    by_load: Array
    noise: Array

    def drifted(self, rng: np.random.Generator, spread: float) -> Gears:
        """Return the gears at another temperature."""
        factors = np.exp(rng.normal(0.0, spread, (2, len(self.coulomb))))
        return Gears(
            self.rotor, self.coulomb * factors[0], self.viscous * factors[1], self.hump,
            self.by_load, self.noise,
        )  # fmt: skip


def loaded_urdf(urdf: Path, load: Payload, out: Path) -> Path:
    """Write the URDF of a chain whose last link carries a load."""
    root = ElementTree.parse(urdf).getroot()
    moving = [j for j in root.findall('joint') if j.get('type') in mujoco_arms.MOVING]
    parents = {j.find('parent').get('link') for j in moving}
    last = next(j.find('child').get('link') for j in moving if not _leads_on(root, j, parents))
    link = ElementTree.SubElement(root, 'link', {'name': 'the_load'})
    inertial = ElementTree.SubElement(link, 'inertial')
    ElementTree.SubElement(inertial, 'origin', {'xyz': ' '.join(map(repr, load.centre))})
    ElementTree.SubElement(inertial, 'mass', {'value': repr(load.mass)})
    keys = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    ElementTree.SubElement(
        inertial, 'inertia', {key: repr(float(v)) for key, v in zip(keys, load.inertia)}
    )
    joint = ElementTree.SubElement(root, 'joint', {'name': 'the_load_joint', 'type': 'fixed'})
    ElementTree.SubElement(joint, 'parent', {'link': last})
    ElementTree.SubElement(joint, 'child', {'link': 'the_load'})
    out.write_bytes(ElementTree.tostring(root))
    return out


def _leads_on(root: ElementTree.Element, joint: ElementTree.Element, parents: set[str]) -> bool:
    below = mujoco_arms.below(joint.find('child').get('link'), root)
    return bool(below & parents)


def make_gears(arm: mujoco_arms.Arm, rng: np.random.Generator, unmodelled: float = 1.0) -> Gears:
    """
    Return gears of a plausible size for an arm.

    :param unmodelled: 1: friction for the load of 2 to 8 %, Stribeck humps of 0 to 40 %.
    """
    import mujoco

    model = mujoco_recordings.compile_model(arm.urdf, arm.gravity)
    data, n = mujoco.MjData(model), model.nv
    q, dq, ddq = mujoco_recordings.reference(model, mujoco_recordings.PLAIN, rng)
    rigid = mujoco_recordings.rigid(model, data, q, dq, ddq)
    size = np.maximum(np.sqrt((rigid**2).mean(axis=0)), 0.05 * np.abs(rigid).max())
    speed = np.maximum(np.sqrt((dq**2).mean(axis=0)), 0.05)
    inertias = mujoco_recordings.inertias(model, data, q[:: max(len(q) // 20, 1)])
    return Gears(
        inertias * rng.uniform(0.1, 0.6, n),
        size * rng.uniform(0.03, 0.15, n),
        size * rng.uniform(0.03, 0.12, n) / speed,
        unmodelled * rng.uniform(0.0, 0.4, n),
        unmodelled * rng.uniform(0.02, 0.08, n),
        size * rng.uniform(0.003, 0.015, n),
    )


def record(
    arm: mujoco_arms.Arm,
    urdf: Path,
    gears: Gears,
    motion: tuple[Array, Array, Array],
    rate: float,
    rng: np.random.Generator,
    offset: Array | None = None,
) -> Dataset:
    """
    Return a recording of an arm whose loop knows its masses and a part of its friction.

    :param urdf: the chain as it is, with its load.
    :param motion: (N, n) reference position, velocity, acceleration at `rate`.
    :param offset: (n,) of the recorded torques.
    """
    import mujoco

    model = mujoco_recordings.compile_model(urdf, arm.gravity)
    data = mujoco.MjData(model)
    model.dof_armature[:], model.dof_damping[:] = gears.rotor, gears.viscous
    model.dof_frictionloss[:] = gears.coulomb
    mujoco.mj_setConst(model, data)
    q, tau = _follow(model, data, gears, motion, rate)
    step = 10 ** rng.uniform(np.log10(2e-5), np.log10(1e-4), model.nv)
    q = np.round(q / step) * step
    tau = tau + rng.normal(size=tau.shape) * gears.noise
    if offset is not None:
        tau = tau + offset
    names = tuple(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(model.nv))
    run = Run(time=np.arange(len(q)) / rate, position=q, torque=tau)
    return Dataset(names, (run,), arm.name)


def _follow(
    model: Any, data: Any, gears: Gears, motion: tuple[Array, Array, Array], rate: float
) -> tuple[Array, Array]:
    """
    Run computed torque at the rate of the recording, the plant at 1 kHz or faster.

    The loop has all of M: with its diagonal alone light wrists become unstable under a load.
    """
    import mujoco

    q_r, dq_r, ddq_r = motion
    substeps = max(1, round(1000.0 / rate))
    model.opt.timestep = 1.0 / rate / substeps
    q, tau = np.empty_like(q_r), np.empty_like(q_r)
    w = 2 * np.pi * min(5.0, rate / 40)
    data.qpos[:], data.qvel[:] = q_r[0], dq_r[0]
    M = np.zeros((model.nv, model.nv))
    for k in range(len(q_r)):
        mujoco.mj_forward(model, data)
        q[k], dq = data.qpos, data.qvel.copy()
        a = ddq_r[k] + 2 * w * (dq_r[k] - dq) + w**2 * (q_r[k] - q[k])
        mujoco.mj_fullM(model, data, M)
        rigid = M @ a + data.qfrc_bias
        hump = 1.0 + gears.hump * np.exp(-((dq / 0.05) ** 2))
        model.dof_frictionloss[:] = gears.coulomb * hump + gears.by_load * np.abs(rigid)
        friction = gears.coulomb * np.tanh(50 * dq_r[k]) + gears.viscous * dq_r[k]
        tau[k] = rigid + 0.8 * friction
        data.qfrc_applied[:] = tau[k]
        for _ in range(substeps):
            mujoco.mj_step(model, data)
    # The command acts from one sample to the next: the mean with the one before lines it up.
    held = tau.copy()
    held[1:] = 0.5 * (tau[1:] + tau[:-1])
    return q, held


def two_recordings(
    name: str, folder: Path, seed: int, load: Payload, same: bool = False, seconds: float = 20.0
) -> tuple[Robot, Dataset, Dataset]:
    """
    Return an arm with recordings without and with a load, hours apart.

    Friction differs by 10 % and offsets by 10 % of the friction between the two.

    :param same: the same motion twice, else motions of their own.
    """
    rng = np.random.default_rng([seed, 7])
    arm = mujoco_arms.make_arm(name, folder)
    gears = make_gears(arm, rng)
    heavier = loaded_urdf(arm.urdf, load, folder / f'{name}_loaded.urdf')
    model = mujoco_recordings.compile_model(arm.urdf, arm.gravity)
    motion = mujoco_recordings.Motion(seconds=seconds)
    first = mujoco_recordings.reference(model, motion, rng)
    second = first if same else mujoco_recordings.reference(model, motion, rng)
    offsets = rng.normal(size=(2, model.nv)) * gears.coulomb * 0.1
    later = gears.drifted(rng, 0.1)
    without = record(arm, arm.urdf, gears, first, motion.rate, rng, offsets[0])
    loaded = record(arm, heavier, later, second, motion.rate, rng, offsets[1])
    return load_robot(arm.robot_file), without, loaded
