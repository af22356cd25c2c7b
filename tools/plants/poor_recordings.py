"""
Recordings without any mistake of the user, of robots that no rigid model describes well.

Springs and elastic gears, sticking friction, coarse torques, a short motion again and again,
many files with rest and single joints: whoever obeys a finding on these is worse off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from plants.mujoco_arms import Arm
from plants.recording_conditions import Conditions, recorded

from robot_id.data.dataset import Dataset, Run
from robot_id.robot import load_robot

Array = NDArray[np.float64]
Generator = np.random.Generator


def _rms(tau: Array) -> Array:
    return np.asarray(np.sqrt((tau**2).mean(axis=0)))


def _mean(values: Array, samples: int) -> Array:
    """Return the moving mean, which a position measured on the motor side does not exceed."""
    kernel = np.ones(samples) / samples
    return np.column_stack([np.convolve(column, kernel, mode='same') for column in values.T])


def _elastic(arm: Arm, rng: Generator, conditions: Conditions) -> Dataset:
    """Positions of the motors before elastic gears, and springs on some joints."""
    dataset = recorded(arm, rng, conditions)
    run = dataset.runs[0]
    n = run.position.shape[1]
    share = rng.uniform(0.0, 0.02, n) * run.position.std(axis=0) / _rms(run.torque)
    twist = _mean(run.torque, max(int(0.02 * run.rate), 1)) * share
    middle = run.position.mean(axis=0) + rng.normal(size=n) * run.position.std(axis=0)
    size = rng.uniform(0.0, 1.0, n) * (rng.random(n) < 0.5)
    spring = (run.position - middle) / run.position.std(axis=0) * size * _rms(run.torque)
    changed = replace(run, position=run.position + twist, torque=run.torque + spring)
    return replace(dataset, runs=(replace(changed, velocity=None),))


def _sticky(arm: Arm, rng: Generator, conditions: Conditions) -> Dataset:
    """Friction that builds up over a distance (Dahl), falls with speed and grows with load."""
    dataset = recorded(arm, rng, conditions)
    run = dataset.runs[0]
    n = run.position.shape[1]
    speed = np.gradient(run.position, run.step, axis=0)
    speed = _mean(speed, max(int(0.01 * run.rate), 1))
    distance = rng.uniform(0.002, 0.03, n)
    state, z = np.zeros((len(run), n)), np.zeros(n)
    for k in range(len(run)):
        step = speed[k] * run.step / distance
        # The exact step of dz = (1 - z sign(dq)) dq / distance.
        z = np.sign(step) + (z - np.sign(step)) * np.exp(-np.abs(step))
        state[k] = z
    stribeck = 1.0 + rng.uniform(0.0, 0.8, n) * np.exp(-((speed / 0.1) ** 2))
    size = rng.uniform(0.1, 0.8, n) * _rms(run.torque) * stribeck
    load = rng.uniform(0.0, 0.2, n) * np.abs(_mean(run.torque, 5))
    return replace(dataset, runs=(replace(run, torque=run.torque + (size + load) * state),))


def _quantised(arm: Arm, rng: Generator, conditions: Conditions) -> Dataset:
    """Torques in coarse steps, and rest before and after the motion."""
    dataset = recorded(arm, rng, conditions, rests=True)
    run = with_rest(dataset.runs[0], rng)
    step = _rms(run.torque) * rng.uniform(0.05, 0.4, run.torque.shape[1])
    return replace(dataset, runs=(replace(run, torque=np.round(run.torque / step) * step),))


def _repeated(arm: Arm, rng: Generator, conditions: Conditions) -> Dataset:
    """One short motion, three times and more."""
    short = replace(conditions, seconds=float(rng.uniform(3.0, 5.0)))
    dataset = recorded(arm, rng, short)
    run = dataset.runs[0]
    size = 0.01 * _rms(run.torque)
    runs = [
        replace(run, torque=run.torque + size * rng.normal(size=run.torque.shape))
        for _ in range(int(rng.integers(3, 7)))
    ]
    return replace(dataset, runs=tuple(runs))


def _files(arm: Arm, rng: Generator, conditions: Conditions) -> Dataset:
    """Return one recording of all joints, and one of each joint alone, in any order."""
    n = load_robot(arm.robot_file).n
    alone = [tuple(j for j in range(n) if j != moving) for moving in range(n)]
    lengths = rng.uniform(3.0, 8.0, n + 1)
    more = tuple(
        conditions.motion(still=still, seconds=float(seconds), rests=True)
        for still, seconds in zip(alone, lengths)
    )
    dataset = recorded(arm, rng, conditions, more, seconds=float(lengths[-1]), rests=True)
    runs = [with_rest(run, rng) for run in dataset.runs]
    return replace(dataset, runs=tuple(runs[k] for k in rng.permutation(n + 1)))


def with_rest(run: Run, rng: Generator) -> Run:
    """Return a run that stands still before and after its motion, with noise of its own."""
    count = [int(rng.uniform(0.2, 3.0) * run.rate) for _ in range(2)]
    changes: dict[str, Array] = {}
    for name in ('position', 'torque', 'velocity'):
        values = getattr(run, name)
        if values is None:
            continue
        ends = [np.zeros_like(values[0])] * 2 if name == 'velocity' else [values[0], values[-1]]
        parts = [np.repeat(end[None], k, axis=0) for end, k in zip(ends, count)]
        if name == 'torque':
            noise = 0.005 * _rms(values)
            parts = [part + noise * rng.normal(size=part.shape) for part in parts]
        changes[name] = np.concatenate([parts[0], values, parts[1]])
    return replace(run, time=np.arange(len(changes['position'])) * run.step, **changes)


POOR: dict[str, Callable[[Arm, Generator, Conditions], Dataset]] = {
    'elastic': _elastic,
    'sticky': _sticky,
    'quantised': _quantised,
    'repeated': _repeated,
    'files': _files,
}
