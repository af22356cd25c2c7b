"""
One motion of an arm on MuJoCo, kept in files of any shape.

The arm rests, moves all joints, rests, and moves each joint alone; what was recorded is then cut
into files anywhere, put into any order, trimmed of its rests, or sampled at a lower rate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants.mujoco_arms import Arm
from plants.mujoco_recordings import (
    BANDWIDTH_HZ,
    Motion,
    add_gears,
    compile_model,
    harden_friction,
    reference,
)
from plants.mujoco_truth import SUBSTEPS, joint_names

from robot_id.data.dataset import Dataset, Run

Array = NDArray[np.float64]
Generator = np.random.Generator
CONTROL_HZ = 1000.0
# Seconds over which a part begins and ends.
BLEND_S = 0.8
SHORTEST_FILE_S = 1.5


@dataclass(frozen=True)
class Plan:
    """
    What is played.

    :param rate: of the recording, Hz; a divisor of 1000.
    :param together_s: all joints at once.
    :param alone_s: each joint alone; 0 for none.
    :param rest_s: before, between and after.
    """

    rate: float = 250.0
    together_s: float = 20.0
    alone_s: float = 4.0
    rest_s: float = 1.5


@dataclass(frozen=True)
class Played:
    """
    A recording of all parts.

    :param dataset: one run.
    :param parts: (first, last) sample of each part that moves, rests left out.
    :param model: the MuJoCo model with the friction and rotors it was played with.
    """

    dataset: Dataset
    parts: tuple[tuple[int, int], ...]
    model: Any


def play(arm: Arm, rng: Generator, plan: Plan) -> Played:
    """Return a recording of an arm: encoder steps, a held command with white noise."""
    import mujoco

    model = compile_model(arm.urdf, arm.gravity)
    harden_friction(model)
    n, every = model.nv, round(CONTROL_HZ / plan.rate)
    q_r, parts = _path(model, plan, rng)
    dq_r = np.gradient(q_r, 1.0 / CONTROL_HZ, axis=0)
    ddq_r = np.gradient(dq_r, 1.0 / CONTROL_HZ, axis=0)
    data = mujoco.MjData(model)
    low, high = parts[0]
    moving = slice(low, high)
    M = add_gears(model, data, (q_r[moving], dq_r[moving], ddq_r[moving]), rng)
    model.opt.timestep = 1.0 / (CONTROL_HZ * SUBSTEPS)
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
        mujoco.mj_step(model, data, SUBSTEPS)
    # The command acts from one sample to the next: the mean with the one before lines it up.
    tau[1:] = 0.5 * (tau[1:] + tau[:-1])
    q, tau = np.round(q[::every] / step) * step, tau[::every]
    size = np.sqrt((tau**2).mean(axis=0))
    tau = tau + rng.normal(size=tau.shape) * size * rng.uniform(0.003, 0.015, n)
    run = Run(time=np.arange(len(q)) / plan.rate, position=q, torque=tau)
    found = tuple((-(-low // every), high // every) for low, high in parts)
    return Played(Dataset(joint_names(model), (run,), arm.name), found, model)


def _path(model: Any, plan: Plan, rng: Generator) -> tuple[Array, list[tuple[int, int]]]:
    """Return (N, n) reference positions at the rate of the control, and the moving parts."""
    motion = Motion(plan.together_s, CONTROL_HZ)
    q = reference(model, motion, rng)[0]
    home = q.mean(axis=0)
    rest = np.tile(home, (round(plan.rest_s * CONTROL_HZ), 1))
    pieces, parts, at = [rest], [], len(rest)
    alone = [(j,) for j in range(model.nv)] if plan.alone_s else []
    for moved in [tuple(range(model.nv)), *alone]:
        seconds = plan.together_s if len(moved) > 1 or model.nv == 1 else plan.alone_s
        length = min(round(seconds * CONTROL_HZ), len(q))
        first = int(rng.integers(len(q) - length + 1))
        own = np.tile(home, (length, 1))
        blend = _blend(length)[:, None]
        for j in moved:
            own[:, j] += blend[:, 0] * (q[first : first + length, j] - home[j])
        pieces += [own, rest]
        parts.append((at, at + length))
        at += length + len(rest)
    return np.concatenate(pieces), parts


def _blend(length: int) -> Array:
    """(N,) 0 at both ends and 1 between them, four times differentiable."""
    ramp = np.clip(np.arange(length) / (BLEND_S * CONTROL_HZ), 0.0, 1.0)
    rising = ramp**4 * (35.0 - 84.0 * ramp + 70.0 * ramp**2 - 20.0 * ramp**3)
    return np.asarray(rising * rising[::-1])


def whole(played: Played, rng: Generator) -> Dataset:
    """Return one file."""
    return played.dataset


def by_part(played: Played, rng: Generator) -> Dataset:
    """Return a file of each part, with half of the rests around it, in any order."""
    ends = [0, *(sum(pair) // 2 for pair in _between(played)), len(played.dataset)]
    return _files(played.dataset, ends, rng)


def trimmed(played: Played, rng: Generator) -> Dataset:
    """Return a file of each part without any rest, in any order."""
    run = played.dataset.runs[0]
    return _shuffled(played.dataset, [run.rows(low, high) for low, high in played.parts], rng)


def cut_anywhere(played: Played, rng: Generator) -> Dataset:
    """Return files cut at random times, in any order."""
    length, least = len(played.dataset), round(SHORTEST_FILE_S * played.dataset.rate)
    count = min(int(rng.integers(2, 9)), length // least - 1)
    # Uniform over all cuts that leave no file too short: what is left over is drawn, then shared.
    free = np.sort(rng.integers(0, length - (count + 1) * least + 1, count))
    cuts = free + least * np.arange(1, count + 1)
    return _files(played.dataset, [0, *cuts.tolist(), length], rng)


def short_files(played: Played, rng: Generator) -> Dataset:
    """Return files of 3 to 6 s, in any order."""
    rate, ends = played.dataset.rate, [0]
    while len(played.dataset) - ends[-1] > 6.0 * rate:
        ends.append(ends[-1] + round(rng.uniform(3.0, 6.0) * rate))
    if len(played.dataset) - ends[-1] < 3.0 * rate:
        ends.pop()
    return _files(played.dataset, [*ends, len(played.dataset)], rng)


def slower(played: Played, rng: Generator) -> Dataset:
    """Return one file of every other sample."""
    run = played.dataset.runs[0]
    return replace(played.dataset, runs=(Run(run.time[::2], run.position[::2], run.torque[::2]),))


SHAPES: dict[str, Callable[[Played, Generator], Dataset]] = {
    'whole': whole,
    'by_part': by_part,
    'trimmed': trimmed,
    'cut_anywhere': cut_anywhere,
    'short_files': short_files,
    'slower': slower,
}


def _between(played: Played) -> list[tuple[int, int]]:
    return [(before[1], after[0]) for before, after in pairwise(played.parts)]


def _files(dataset: Dataset, ends: list[int], rng: Generator) -> Dataset:
    run = dataset.runs[0]
    return _shuffled(dataset, [run.rows(low, high) for low, high in pairwise(ends)], rng)


def _shuffled(dataset: Dataset, runs: list[Run], rng: Generator) -> Dataset:
    """Return files in any order, the clock of each beginning at zero."""
    order = rng.permutation(len(runs))
    began = [replace(run, time=run.time - run.time[0]) for run in runs]
    return replace(dataset, runs=tuple(began[k] for k in order))
