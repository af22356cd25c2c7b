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
# What a spring leaves of a joint's residual at most, and how far the stiffnesses of both halves of
# the recording may lie apart.
SPRUNG, ALIKE = 0.8, 1.5
# Share of a joint's torque that a spring must have there: less is no matter for the model.
MATERIAL = 0.03
# Parts of a recording that belong to the halves by turns, so that both have all of its motions.
PARTS = 8


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


def contradictions(case: Case, recording: Recording) -> list[Remark]:
    """
    Return warnings that the error of a fit does not show, with their usual cause.

    :param recording: as it was checked.
    """
    robot, dataset = case.robot, case.dataset
    torque = np.concatenate([run.torque for run in dataset.runs])
    rms = np.sqrt(np.nanmean(torque**2, axis=0))
    found = [behind_the_gear(robot, case.result, rms, rms_speeds(dataset))]
    found += in_the_torques(recording)
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

    Every joint gets a column k (q - mean). What is present in both halves of the recording, each
    with all of its motions, is not chance: there the stiffness is the slope of what the bodies
    leave.
    """
    models, s = recording.models, recording.signals
    W, Y, size = models.free.equations(s)
    plain = models.nominal.free
    q = np.concatenate([decimate(s.q[a:b], EQUATION_DECIMATION)[2:-2] for a, b in s.pieces])
    span = np.maximum(q.std(axis=0), 1e-9)
    m, n, b = W.shape
    stretch = (q - q.mean(axis=0)) / span * size * s.valid_equations
    spring = stretch[:, :, None] * np.eye(n)
    weights = 1.0 / (size * np.clip(plain, 0.02, 1.0))
    rows, target = np.concatenate([W, spring], axis=2), (Y * weights).ravel()
    left = []
    for A in (W, rows):
        x = ridge_solve((A * weights[:, None]).reshape(m * n, -1), target, models.free.friction)
        left.append(np.sqrt(np.mean((Y - A @ x) ** 2, axis=0)))
    ratio = left[1] / np.maximum(left[0], 1e-300)
    part = np.sqrt(np.maximum(left[0] ** 2 - left[1] ** 2, 0.0)) / size
    odd = np.arange(m) * PARTS // m % 2 == 1
    pull = stretch * (Y - W @ x[:b])
    k = np.stack([
        pull[half].sum(axis=0) / np.maximum((stretch[half] ** 2).sum(axis=0), 1e-300)
        for half in (odd, ~odd)
    ])  # fmt: skip
    agree = (k[0] * k[1] > 0.0) & (np.abs(k).max(axis=0) < ALIKE * np.abs(k).min(axis=0))
    sprung = agree & (ratio < SPRUNG) & (part > MATERIAL) & s.moving
    return [
        f"joint '{recording.names[j]}': a spring of {k[:, j].mean() * size[j] / span[j]:.3g} per "
        f'rad or m would explain {100 * (1 - ratio[j]):.0f} % of what is left: a spring, '
        'counterweight or cable that is not in the model, or a wrong gravity'
        for j in np.flatnonzero(sprung)
    ]
