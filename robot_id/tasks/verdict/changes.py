"""
Changes within a recording: a load that is attached, friction that warms up, a file of another arm.

Parameters that differ between parts of a recording are columns g(t) W_k beside W, with g a step or
a drift; one that differs between the joints throughout, g = 1, is the gain of their torques. The
likeliest change of all is tried on blocks that were not fitted, each with both sides of it: a
change that does not lower their error, or hardly moves the torque, is none, and neither is one
where an effect that is not in the model explains more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.robot import Robot
from robot_id.robot.payload import payload_columns
from robot_id.tasks.verdict.trial_rows import TrialRows
from robot_id.tasks.verdict.verdict import Remark

Array = NDArray[np.float64]
# Steps are looked for at these parts of the recording, the files that are tried for themselves.
STEPS, MOST_FILES = 16, 12
THROUGHOUT = 'throughout'
# A drift is 1 - exp(-3 t / T), as friction warms up.
WARM_UP = 3.0
# Percent of the squared error on blocks left out that a change must take, and the share of these
# blocks that must agree: effects that are not in the model are not the same all the time.
WORTH, AGREE = 33.0, 0.75
# Part of a joint's torque that a change must move.
MATERIAL = 0.01
# Part by which the gain of a torque must differ from the others: the gains of data sheets are not
# better. Most of what it does to the torque is hidden in the parameters of its joint alone.
GAIN_APART = 0.05
# Percent of the squared error of its joint that this gain must take: the rest is noise. Of the
# error of all joints the gain of one of many takes little.
GAIN_WORTH = 50.0


@dataclass(frozen=True)
class Change:
    """
    A way in which parameters change.

    :param kind: load, friction or torque.
    :param when: (R,) g(t).
    :param words: when.
    """

    kind: str
    when: Array
    words: str


def columns_of(rows: TrialRows, robot: Robot) -> dict[str, Array]:
    """Return by kind the unweighted (R, c) columns of parameters that change together."""
    W = rows.A / rows.weight[:, None]
    friction = [k for k, name in enumerate(robot.base.names) if re.match(r'F[vc]', name)]
    return {
        'load': W @ payload_columns(robot),
        'friction': W[:, friction],
        'torque': rows.by_joint(rows.predicted),
    }


def moments(rows: TrialRows) -> list[tuple[Array, str]]:
    """Return the functions g(t) that are tried, and when that is."""
    t, T = rows.time, rows.duration
    found = [
        ((t > k * T / STEPS).astype(float), f'from {k * T / STEPS:.3g} s on')
        for k in range(1, STEPS)
    ]
    found.append((1.0 - np.exp(-WARM_UP * t / T), 'along the recording'))
    found.append((np.ones(len(t)), THROUGHOUT))
    runs = np.unique(rows.run)
    if 1 < len(runs) <= MOST_FILES:
        found += [((rows.run == k).astype(float), f'in recording {k + 1}') for k in runs]
    return found


def likeliest(rows: TrialRows, robot: Robot) -> tuple[Change, Array] | None:
    """Return the change that explains most of the residual for its parameters."""
    Q = np.linalg.qr(rows.A)[0]
    y = rows.weight * rows.y
    rho = y - Q @ (Q.T @ y)
    left, R = float(rho @ rho), len(rho)
    best: tuple[float, Change, Array] | None = None
    kinds = {kind: C * rows.weight[:, None] for kind, C in columns_of(rows, robot).items()}
    for when, words in moments(rows):
        for kind, C in kinds.items():
            D = C * when[:, None]
            P = D - Q @ (Q.T @ D)
            size = np.linalg.norm(P, axis=0)
            P = P[:, size > 1e-6 * np.linalg.norm(rows.A, axis=0).max()]
            if not P.shape[1]:
                continue
            P = np.linalg.svd(P / np.linalg.norm(P, axis=0), full_matrices=False)
            U = P[0][:, P[1] > 1e-3 * P[1][0]]
            taken = float(np.sum((U.T @ rho) ** 2))
            score = R * np.log(max(left - taken, 1e-12 * left) / left) + U.shape[1] * np.log(R)
            if best is None or score < best[0]:
                best = float(score), Change(kind, when, words), D / rows.weight[:, None]
    return None if best is None or best[0] >= 0.0 else best[1:]


def changes(rows: TrialRows, robot: Robot, other: float = np.inf) -> list[Remark]:
    """
    Return the change within a recording, with when it was and what to do, if there is one.

    :param other: error on blocks left out, percent, with the best of the effects that are not in
        the model: a change that leaves more is none.
    """
    found = likeliest(rows, robot)
    if found is None or rows.repeated:
        return []
    change, columns = found
    gain = rows.gain(columns)
    if gain.agree < AGREE or gain.after > other:
        return []
    figures = f'error on blocks left out {gain.before:.3g} -> {gain.after:.3g} %'
    if change.words == THROUGHOUT:
        apart = _apart(gain.values)
        worth = gain.of_joint[np.abs(apart) >= GAIN_APART].max(initial=0.0)
        if worth < GAIN_WORTH:
            return []
        return [Remark('caution', f'{_gains(apart, robot.joint_names)} ({figures})')]
    if gain.percent < WORTH or gain.share.max() < MATERIAL:
        return []
    joint = robot.joint_names[int(np.argmax(gain.share))]
    return [Remark('caution', f'{_words(change, joint)} ({figures})')]


def _apart(values: Array) -> Array:
    """
    Return (n,) by how much the gain of each torque differs from those of the other joints.

    :param values: (n,) what is missing in the torque of each joint, known up to a common factor.
    """
    return values - (values[1] if len(values) == 2 else np.median(values))


def _gains(apart: Array, names: tuple[str, ...]) -> str:
    """Return which torque has another gain than those of the others."""
    j = int(np.argmax(np.abs(apart)))
    if len(names) == 2:
        text = f'the torque of {names[0]!r} is {1.0 + apart[0]:.3g} times that of {names[1]!r}, '
        text += 'by the inertia that both move'
    else:
        text = f'the torque of {names[j]!r} is {1.0 + apart[j]:.3g} times what those of the '
        text += 'other joints say'
    return f'{text}: a wrong torque gain (drive gain, gear ratio), or wrong kinematics there'


def _words(change: Change, joint: str) -> str:
    if change.words.startswith('in '):
        return (
            f'{change.words} the torques differ, most at {joint!r}: another robot, tool or torque '
            'gain; identify it for itself'
        )
    if change.kind == 'load':
        return (
            f'{change.words} the arm carries another load: a load was attached or removed; split '
            'the recording there'
        )
    if change.kind == 'friction':
        return (
            f'{change.words} friction changes, most at {joint!r}: it warms up; record it when '
            'warm, or measure the temperature and take friction terms with it'
        )
    return (
        f'{change.words} the torque changes by a factor, most at {joint!r}: its gain changed or '
        'something touched the arm; split the recording there'
    )
