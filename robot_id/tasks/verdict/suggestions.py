"""What would improve a result, each tried on blocks that were not fitted before it is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_id.robot import Robot
from robot_id.tasks.verdict.trial_rows import Gain, TrialRows

MOST = 3
# Percent of the squared error that a suggestion must take, and the share of the blocks left out
# that must agree.
WORTH, AGREE = 20.0, 0.75
# What leaves this many times more of the squared error than the best does explains a part of that
# by chance.
WORSE = 2.0
# Part by which the relative torque error must fall, too.
LOWER = 0.03
# Periods of a turn that a cogging may have.
PERIODS = range(2, 49)
# Hold-out error over training error from which on a longer motion is tried, and what half of the
# motion must be worse to say that more is better.
FLEXIBLE, BETTER = 1.3, 1.1
FRICTION = ('load', 'stribeck', 'quadratic')
TEXTS = {
    'spring': 'the torque grows with the position of {joint}: a spring, counterweight or cable '
    'that is not in the model',
    'cogging': 'the torque of {joint} repeats {periods} times a turn: cogging or an eccentric '
    'encoder',
}


@dataclass(frozen=True)
class Suggestion:
    """
    A way to a better result.

    :param code: friction_auto, spring, cogging or longer_motion.
    :param joint: that it concerns most.
    :param text: one line, with the promised gain.
    :param before_percent: error on blocks left out as it is, and after_percent with it; NaN where
        it cannot be had from these data.
    """

    code: str
    joint: str
    text: str
    before_percent: float
    after_percent: float

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for a file."""
        return dict(vars(self))


def suggestions(rows: TrialRows, robot: Robot) -> list[Suggestion]:
    """Return at most three suggestions, the one that gains most first."""
    if rows.repeated:
        return []
    tried: list[tuple[Gain, Suggestion]] = []
    terms = [(rows.gain(rows.by_joint(rows.effects[name])), name) for name in FRICTION]
    gain, name = max(terms, key=lambda pair: pair[0].percent)
    text = f"set friction=auto: the term '{name}' lowers it"
    tried.append((gain, _made('friction_auto', gain, robot, text)))
    gain = rows.gain(rows.by_joint(rows.effects['spring']))
    tried.append((gain, _made('spring', gain, robot, TEXTS['spring'])))
    periods = _periods(rows)
    columns = np.column_stack([
        rows.by_joint(f(periods[rows.joint] * rows.q)) for f in (np.sin, np.cos)
    ])  # fmt: skip
    gain = rows.gain(columns)
    most = int(periods[int(np.argmax(gain.share))])
    tried.append((gain, _made('cogging', gain, robot, TEXTS['cogging'], most)))
    worth = [
        pair
        for pair in tried
        if pair[0].percent > WORTH
        and pair[0].agree >= AGREE
        and pair[0].after < (1.0 - LOWER) * pair[0].before
    ]
    worth.sort(key=lambda pair: pair[0].after)
    found = [one for gain, one in worth if gain.after**2 <= WORSE * worth[0][0].after ** 2]
    return [*found, *_longer(rows, robot)][:MOST]


def _made(code: str, gain: Gain, robot: Robot, text: str, periods: int = 0) -> Suggestion:
    joint = robot.joint_names[int(np.argmax(gain.share))]
    said = text.format(joint=repr(joint), periods=periods)
    figures = f'error on blocks left out {gain.before:.3g} -> {gain.after:.3g} %'
    return Suggestion(code, joint, f'{said} ({figures})', gain.before, gain.after)


def _periods(rows: TrialRows) -> np.ndarray:
    """(n,) periods a turn with which the residual of each joint goes most."""
    found = np.full(rows.n, PERIODS[0])
    for j in range(rows.n):
        own = rows.joint == j
        power = [abs(np.sum(rows.left[own] * np.exp(1j * k * rows.q[own]))) for k in PERIODS]
        found[j] = PERIODS[int(np.argmax(power))]
    return found


def _longer(rows: TrialRows, robot: Robot) -> list[Suggestion]:
    """Return that a longer motion helps, where half of it is worse than all of it."""
    before = rows.error_percent(rows.left)
    training = rows.error_percent(rows.weight * (rows.y - rows.predicted))
    if before < FLEXIBLE * training:
        return []
    half = rows.fold % 2 == 0
    x = np.linalg.lstsq(rows.A[half], (rows.weight * rows.y)[half], rcond=1e-9)[0]
    left = (rows.weight * rows.y - rows.A @ x)[~half]
    error = 100.0 * float(
        np.linalg.norm(left / rows.weight[~half]) / np.linalg.norm(rows.y[~half])
    )
    if error < BETTER * before:
        return []
    excess = [
        float(
            np.linalg.norm(rows.left[rows.joint == j]) / max(np.sqrt(np.sum(rows.joint == j)), 1)
        )
        for j in range(rows.n)
    ]
    joint = robot.joint_names[int(np.argmax(excess))]
    text = (
        f'record a longer or richer motion, most of all of {joint!r}: fitted to half of this one '
        f'the error on the rest is {error:.3g} %, to seven eighths {before:.3g} %'
    )
    return [Suggestion('longer_motion', joint, text, before, float('nan'))]
