"""
The verdict on a result: whether it may be used.

Each judge looks at one thing and gives remarks; the worst of them is the verdict. A new judge is
one function and one line in `JUDGES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.dataset import Dataset
from robot_id.methods.result import Result
from robot_id.methods.result_form import LEVELS, Level
from robot_id.regression.preprocessing.rest_band import coarse_speeds, held_joints
from robot_id.regression.rows.prediction import Prediction
from robot_id.robot import Robot
from robot_id.tasks.verdict.holdout import Holdout
from robot_id.tasks.verdict.remaining_delay import remaining_delay

Array = NDArray[np.float64]
# Relative torque error in percent from which a model explains too little to be used, or little.
NONSENSE_PERCENT, POOR_PERCENT = 40.0, 15.0
# Torque of other motions that the standard deviations leave unknown, of what is predicted: all.
NOTHING_KNOWN_PERCENT = 100.0
# Hold-out error over error of the fit from which on the fit is over-fitted.
OVERFITTED = 3.0
# A joint of which less than half of the torque is explained, though it has a share of all torque.
JOINT_PERCENT, JOINT_SHARE = 50.0, 0.02
# Standard deviations beyond which a negative value is not chance.
DEVIATIONS = 3.0
# Friction below this share of a joint's torque says nothing, as in recordings without any noise.
NO_FRICTION = 1e-3
POSTURES = 200
# A delay remains if it is longer than a sample and explains this share of the residual.
OFFSET_SHARE = 0.15
_NOT_NEGATIVE = re.compile(r'^(Fv|Fc|Fvm|Fcm|Ia)\d+[+-]?$')


def reachable(robot: Robot, recorded: Array, count: int, seed: int = 0) -> Array:
    """(count, n) random postures within the limits; without them a turn, or what was seen."""
    low = np.where(robot.prismatic, recorded.min(axis=0), -np.pi)
    high = np.where(robot.prismatic, recorded.max(axis=0), np.pi)
    low = np.where(np.isfinite(robot.limits.lower), robot.limits.lower, low)
    high = np.where(np.isfinite(robot.limits.upper), robot.limits.upper, high)
    return np.random.default_rng(seed).uniform(low, high, (count, robot.n))


@dataclass(frozen=True)
class Remark:
    """One reason: how bad it is, and the line that says why."""

    level: Level
    text: str


@dataclass(frozen=True)
class Verdict:
    """
    How far a result can be trusted.

    :param level: usable, caution or do_not_use.
    :param reasons: one line each, worst first; empty if there is no objection.
    """

    level: Level
    reasons: tuple[str, ...]

    @classmethod
    def of(cls, remarks: Iterable[Remark]) -> Verdict:
        """Return the worst level with all reasons."""
        found = sorted(remarks, key=lambda remark: -LEVELS.index(remark.level))
        level = found[0].level if found else 'usable'
        return cls(level, tuple(remark.text for remark in found))


@dataclass(frozen=True)
class Case:
    """
    What is judged.

    :param robot: the Robot.
    :param dataset: the measurements, columns in the order of the robot's joints.
    :param result: the parameters.
    :param prediction: torques along these measurements.
    :param holdout: errors of a fit on what was kept back from it, None if there is none.
    :param unseen_percent: error on other data, NaN without any.
    """

    robot: Robot
    dataset: Dataset
    result: Result
    prediction: Prediction
    holdout: Holdout | None = None
    unseen_percent: float = float('nan')


def judge(case: Case, others: Iterable[Remark] = ()) -> Verdict:
    """
    Return the verdict.

    :param others: remarks of other checks.
    """
    remarks = [remark for one in JUDGES for remark in one(case)]
    return Verdict.of([*remarks, *others])


def convergence(case: Case) -> list[Remark]:
    """Judge whether the iterations converged."""
    if case.result.converged:
        return []
    return [Remark('do_not_use', f'{case.result.method} has not converged')]


def errors(case: Case) -> list[Remark]:
    """Judge the hold-out or validation error, or the training error where there is none."""
    training, what = case.result.relative_error_percent, 'training error'
    unseen = case.unseen_percent
    if case.holdout is not None:
        training = case.holdout.fit_error_percent
        unseen = case.holdout.error_percent if np.isnan(unseen) else unseen
    worst = training
    if np.isfinite(unseen):
        worst, what = max(unseen, training), 'hold-out error'
    if not worst < NONSENSE_PERCENT:
        return [
            Remark(
                'do_not_use',
                f'{what} {worst:.3g} % of the torque: run robot-id check on the data (units, '
                'signs, joint order, gravity, gear ratios)',
            )
        ]
    remarks = []
    if worst > POOR_PERCENT:
        remarks.append(Remark('caution', f'{what} {worst:.3g} % of the torque'))
    if np.isfinite(unseen) and unseen > OVERFITTED * training and unseen > 1.0:
        remarks.append(
            Remark(
                'caution',
                f'hold-out error {unseen:.3g} %, training error {training:.3g} %: the fit is too '
                'flexible for these data; record a longer or richer motion, or set essential=true',
            )
        )
    return remarks


def joints(case: Case) -> list[Remark]:
    """Judge the residual of each joint."""
    norms = case.prediction.torque_norms()
    percent = case.prediction.relative_error_percent_per_joint
    share = norms / max(float(np.linalg.norm(norms)), 1e-300)
    return [
        Remark('caution', f"joint '{name}': {p:.3g} % of its torque is unexplained")
        for name, p, s in zip(case.robot.joint_names, percent, share)
        if p > JOINT_PERCENT and s > JOINT_SHARE
    ]


def inertia(case: Case) -> list[Remark]:
    """Judge whether M(q) is positive definite where the robot was, and where it can be."""
    robot, chi = case.robot, case.result.values
    recorded = np.concatenate([run.position for run in case.dataset.runs])
    recorded = recorded[np.linspace(0, len(recorded) - 1, POSTURES).astype(int)]
    way_out = 'not for a controller: set physical=true, or excite the wrist more'
    least = dynamics.smallest_inertia_eigenvalue(robot, chi, recorded)
    if not least > 0.0:
        return [
            Remark(
                'do_not_use',
                f'M(q) is not positive definite in recorded postures (eigenvalue {least:.3g}): '
                f'{way_out}',
            )
        ]
    least = dynamics.smallest_inertia_eigenvalue(robot, chi, reachable(robot, recorded, POSTURES))
    if not least > 0.0:
        text = f'M(q) is not positive definite in postures within the limits ({least:.3g})'
        return [Remark('caution', f'{text}: {way_out}')]
    return []


def other_motions(case: Case) -> list[Remark]:
    """
    Judge what the standard deviations alone leave of the torques of other motions.

    Random postures within the limits, at the speeds and accelerations of the recording, of the
    joints that moved: sqrt(sum of tr W C W') over the norm of W chi.
    """
    robot, result, dataset = case.robot, case.result, case.dataset
    recorded = np.concatenate([run.position for run in dataset.runs])
    speeds, rng = rms_speeds(dataset), np.random.default_rng(0)
    q = reachable(robot, recorded, POSTURES)
    still = held_joints(dataset)
    q[:, still] = recorded.mean(axis=0)[still]
    dq = speeds * rng.normal(size=q.shape)
    ddq = speeds**2 / np.maximum(recorded.std(axis=0), 1e-9) * rng.normal(size=q.shape)
    W = dynamics.regressor(robot, q, dq, ddq, result.options.get('coulomb_slope'))
    known = np.isfinite(np.diag(result.covariance))
    C = np.where(known[:, None] & known, result.covariance, 0.0)
    unknown = float(np.sqrt(max(float(np.sum((W @ C) * W)), 0.0)))
    percent = 100.0 * unknown / max(float(np.linalg.norm(W @ result.values)), 1e-300)
    if percent < NONSENSE_PERCENT:
        return []
    text = f'on other motions within the limits its standard deviations leave {percent:.3g} % of'
    level: Level = 'caution' if percent < NOTHING_KNOWN_PERCENT else 'do_not_use'
    return [Remark(level, f'{text} the torque unknown: record a longer or richer motion')]


def friction(case: Case) -> list[Remark]:
    """
    Judge whether friction takes energy out of every joint.

    With one joint moving alone, gravity and inertia forces are even in its velocity v, so
    (tau_j(v) - tau_j(-v)) / 2 is its friction, whatever its terms are: w' chi, with the variance
    w' C w, must have the sign of v.
    """
    robot, result = case.robot, case.result
    speeds = rms_speeds(case.dataset)
    q = np.mean([run.position.mean(axis=0) for run in case.dataset.runs], axis=0)
    slope = result.options.get('coulomb_slope')
    typical = np.sqrt(np.mean(np.concatenate([r.torque**2 for r in case.dataset.runs]), axis=0))
    remarks = []
    for j in np.flatnonzero(speeds > 0.0):
        dq = np.zeros((2, robot.n))
        dq[:, j] = speeds[j], -speeds[j]
        W = dynamics.regressor(robot, np.tile(q, (2, 1)), dq, np.zeros_like(dq), slope)
        w = 0.5 * (W[0, j] - W[1, j])
        torque, deviation = float(w @ result.values), _deviation(result, w, int(j))
        if torque < -max(DEVIATIONS * deviation, NO_FRICTION * typical[j]):
            remarks.append(
                Remark(
                    'do_not_use',
                    f"joint '{robot.joint_names[j]}': friction drives it ({torque:.3g} at "
                    f'{speeds[j]:.3g} per s) instead of braking it: the sign of its torque or '
                    'position is wrong, or friction was not excited',
                )
            )
    return remarks


def negative_values(case: Case) -> list[Remark]:
    """Judge single frictions and rotor inertias that are negative beyond chance."""
    result = case.result
    factor = _deviation_factor(result)
    found = [
        (name, value)
        for name, value, std in zip(result.names, result.values, result.std)
        if _NOT_NEGATIVE.match(name) and value < -DEVIATIONS * factor * std and value < 0.0
    ]
    if not found:
        return []
    shown = ', '.join(f'{name} = {value:.3g}' for name, value in found[:6])
    return [Remark('caution', f'{shown}: negative beyond {DEVIATIONS:g} standard deviations')]


def consistent(case: Case) -> list[Remark]:
    """Judge whether a fit with physical=true contradicts the data."""
    physical = case.result.physical
    if not physical or physical.get('consistent', True):
        return []
    pulling = ', '.join(
        f'{one["name"]} by {abs(one["deviations"]):.2g} standard deviations'
        for one in physical.get('pulling', [])[:3]
    )
    moved = f' (it moves {pulling})' if pulling else ''
    return [Remark('caution', f'the data contradict every physically consistent robot{moved}')]


def kept_loop(case: Case) -> list[Remark]:
    """Judge a loop that was kept though the recorded positions contradict it."""
    if not case.result.extras.get('loop_contradicted'):
        return []
    text = 'the loop in the robot file contradicts the recorded positions: its intervals are wrong'
    return [Remark('caution', f'{text}; set fit_loop=auto or correct the loop of the robot file')]


def delay(case: Case) -> list[Remark]:
    """Judge the delay that is left between torque and motion."""
    # The rows of a hold-out have the torques at the time that was found, whatever the method.
    left = remaining_delay(case.prediction if case.holdout is None else case.holdout.fit)
    if left.share < OFFSET_SHARE or abs(left.seconds) < 1.0 / case.dataset.rate:
        return []
    way = 'lags' if left.seconds > 0.0 else 'leads'
    text = f'the torque still {way} the position by {1e3 * abs(left.seconds):.3g} ms'
    hint = 'if it was, suspect backlash, or friction that reverses before or after the velocity'
    return [Remark('caution', f'{text}: leave torque_delay_s to the data; {hint}')]


JUDGES: tuple[Callable[[Case], list[Remark]], ...] = (
    convergence,
    errors,
    other_motions,
    inertia,
    friction,
    negative_values,
    consistent,
    joints,
    delay,
    kept_loop,
)


def _deviation(result: Result, w: Array, joint: int) -> float:
    """Return the standard deviation of w' chi, with the autocorrelation of the residual."""
    known = np.isfinite(np.diag(result.covariance))
    C = np.where(known[:, None] & known, result.covariance, 0.0)
    return float(np.sqrt(np.maximum(w @ C @ w, 0.0))) * _deviation_factor(result, joint)


def _deviation_factor(result: Result, joint: int | None = None) -> float:
    """Return the factor by which the deviations may be too small, of a joint or the largest."""
    factors = result.extras.get('residual', {}).get('deviation_factor') or [1.0]
    if joint is not None and joint < len(factors):
        return float(factors[joint] or 1.0)
    return float(max((f for f in factors if f), default=1.0))


def rms_speeds(dataset: Dataset) -> Array:
    """(n,) root mean square of the speeds, from differences that hide the noise."""
    squares, count = np.zeros(len(dataset.joint_names)), 0
    for run in dataset.runs:
        speed = coarse_speeds(run)
        squares += np.sum(speed**2, axis=0)
        count += len(speed)
    return np.sqrt(squares / max(count, 1))
