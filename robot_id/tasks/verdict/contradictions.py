"""
Torques that a model of bodies fits well, and that are still not those of this robot's drives.

Measured behind the gears they show no friction, from a controller that compensates gravity they
show no weight, and beside a spring or a counterweight they hold a part that grows with the
position. The free parameters absorb much of this, so the error alone does not show it.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from robot_id.data.signals.decimation import decimate
from robot_id.exceptions import RobotIdError
from robot_id.methods.result import Result
from robot_id.robot import Robot
from robot_id.tasks.checks.case import Case as Recording
from robot_id.tasks.checks.free_model import ridge_solve
from robot_id.tasks.checks.hypothesis import Hypothesis
from robot_id.tasks.checks.signals import EQUATION_DECIMATION
from robot_id.tasks.verdict.verdict import Case, Remark, rms_speeds

Array = NDArray[np.float64]
# Friction of less than this share of a joint's torque: no gear was between motor and sensor.
FRICTIONLESS = 0.01
# Gain (sum over the joints of log residual before / after) that torques without weight need.
WEIGHTLESS = 1.0
# What a spring leaves of a joint's residual on the half that it was not fitted to, at most, and
# how far the stiffnesses of both halves may lie apart.
SPRUNG, ALIKE = 0.8, 1.5


def behind_the_gear(robot: Robot, result: Result, torque: Array, speed: Array) -> str:
    """
    Return the meaning of torques without any friction, '' if a joint shows some.

    :param torque: (n,) rms of the torques, speed (n,) rms.
    """
    values = dict(zip(result.names, result.values))
    std = dict(zip(result.names, np.nan_to_num(result.std)))
    judged = 0
    for j in range(robot.n):
        names = [n for n in values if re.fullmatch(rf'F[vc]{j + 1}[+-]?', n)]
        if not names or not speed[j] > 0.0:
            continue
        most = sum(
            (abs(values[n]) + 2.0 * std[n]) * (speed[j] if n[1] == 'v' else 1.0) for n in names
        )
        if most > FRICTIONLESS * torque[j]:
            return ''
        judged += 1
    if judged < max(1, robot.n - 1):
        return ''
    return (
        f'no joint has friction above {100 * FRICTIONLESS:g} % of its torque: torques measured '
        'behind the gears or with friction compensated, the model is not that of the motors (set '
        'friction: [] and rotor_inertia: none in the robot file where this is meant)'
    )


def contradictions(case: Case) -> list[Remark]:
    """Return warnings that the error of a fit does not show, with their usual cause."""
    robot, dataset = case.robot, case.dataset
    torque = np.concatenate([run.torque for run in dataset.runs])
    rms = np.sqrt(np.nanmean(torque**2, axis=0))
    found = [behind_the_gear(robot, case.result, rms, rms_speeds(dataset))]
    found += in_the_torques(Recording(robot, dataset))
    return [Remark('caution', text) for text in found if text]


def in_the_torques(recording: Recording) -> list[str]:
    """Return which part of the torques is missing or does not belong to a robot, one line each."""
    try:
        weightless = without_weight(recording)
        return [weightless] if weightless else springs(recording)
    except (RobotIdError, np.linalg.LinAlgError):
        return []


def without_weight(recording: Recording) -> str:
    """Return the meaning of torques that bodies without weight explain better, '' if none."""
    models = recording.models
    if not np.any(recording.robot.gravity):
        return ''
    before, after = models.nominal, models.explain(Hypothesis(gravity=(0.0, 0.0, 0.0)))
    moving = before.moving
    gain = float(np.log(before.free / after.free)[moving].sum())
    if gain < WEIGHTLESS:
        return ''
    one, other = (100.0 * float(np.sqrt((e.free[moving] ** 2).mean())) for e in (before, after))
    return (
        f'without gravity {other:.3g} % of the torque is unexplained, with it {one:.3g} %: '
        'gravity was compensated before the torque was recorded, or the robot file has a wrong one'
    )


def springs(recording: Recording) -> list[str]:
    """
    Return the joints with a torque that grows with their position.

    Every joint gets a column k (q - mean), fitted to one half of the recording and judged on the
    other one, both ways: what is present in both halves is not chance.
    """
    models, s = recording.models, recording.signals
    W, Y, size = models.free.equations(models.robot, s)
    plain = models.nominal.free
    q = np.concatenate([decimate(s.q[a:b], EQUATION_DECIMATION)[2:-2] for a, b in s.pieces])
    span = np.maximum(q.std(axis=0), 1e-9)
    m, n, b = W.shape
    spring = np.zeros((m, n, n))
    joints = np.arange(n)
    spring[:, joints, joints] = (q - q.mean(axis=0)) / span * size * s.valid_equations
    weights = 1.0 / (size * np.clip(plain, 0.02, 1.0))
    halves = [np.arange(m) < m // 2, np.arange(m) >= m // 2]
    found = np.zeros((2, 2, n))  # rms on the other half, without and with springs
    k = np.zeros((2, n))
    for i, half in enumerate(halves):
        for with_springs, A in enumerate((W, np.concatenate([W, spring], axis=2))):
            rows = (A[half] * weights[:, None]).reshape(-1, A.shape[2])
            x = ridge_solve(rows, (Y[half] * weights).ravel(), models.free.friction)
            other = ~half
            found[i, with_springs] = np.sqrt(np.mean((Y[other] - A[other] @ x) ** 2, axis=0))
        k[i] = x[b:]
    # The mean of both ways: one half may move too little to determine it.
    ratio = np.sqrt(np.prod(found[:, 1] / np.maximum(found[:, 0], 1e-300), axis=0))
    agree = (k[0] * k[1] > 0.0) & (np.abs(k).max(axis=0) < ALIKE * np.abs(k).min(axis=0))
    sprung = agree & (ratio < SPRUNG) & s.moving
    return [
        f"joint '{recording.names[j]}': a spring of {k[:, j].mean() * size[j] / span[j]:.3g} per "
        f'rad or m would explain {100 * (1 - ratio[j]):.0f} % of what is left: a spring, '
        'counterweight or cable that is not in the model, or a wrong gravity'
        for j in np.flatnonzero(sprung)
    ]
