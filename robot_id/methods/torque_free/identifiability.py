"""
Which combinations of the unknowns the data determine, before and after a fit.

The singular vectors of the scaled sensitivity with small singular values are combinations that
may change without a trace in the positions. They are named by the unknowns in them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.methods.torque_free.fit import Fit, summarise
from robot_id.methods.torque_free.problem import Problem

Array = NDArray[np.float64]
# An unknown belongs to the combinations that make up this share of what is open about it.
NAMED = 0.1
# A link parameter, as a cause names it.
LINK = 'link'
# What a combination holds, one of what it holds too, the drive (any when empty), why it is open
# and what closes it. The first that fits counts.
CAUSES: tuple[tuple[set[str], set[str], str, str], ...] = (
    (
        {LINK},
        {'kp', 'kt', 'R'},
        '',
        'gains and inertias are free together, so nothing shows the size of torques; fix one of '
        'them',
    ),
    (
        {LINK, 'bias'},
        set(),
        '',
        'a bias turns the direction of gravity as the centre of mass does; fix the bias or the '
        'inertias',
    ),
    (
        {'armature'},
        {'kp', 'kt', 'R'},
        '',
        'gravity does not load the joint, so nothing shows the size of its torques; load it with '
        'a known mass, or fix one of them',
    ),
    ({'viscous', 'kd'}, set(), '', 'both damp the motion alike; fix one of them'),
    (
        {'kp'},
        {'kt', 'R'},
        '',
        'only their product acts while the drive is below its limit; record with several known '
        'gains up to the limit, or fix kp',
    ),
    (
        {'viscous'},
        set(),
        'voltage',
        'the motor is never off, and its back-EMF damps as friction does; record it switched off '
        "for a while ('enabled' in the mapping), or fix kt, R or viscous",
    ),
    ({'bias'}, set(), '', 'gravity does not load the joint; fix it'),
)
# A residual that a start is judged with, rad or m: a good encoder.
ENCODER = 1e-3


def at_start(problem: Problem) -> list[str]:
    """Return the combinations that the recorded motion does not determine, at the start."""
    sizes = np.full(problem.robot.n, ENCODER)
    try:
        found = summarise(problem, problem.start(), sizes, 'linear', 0, True, white=True)
    except np.linalg.LinAlgError:
        return []
    return _lines(problem, found)


def after(problem: Problem, found: Fit) -> list[str]:
    """Return the combinations that the data did not determine."""
    return _lines(problem, found)


def _lines(problem: Problem, found: Fit) -> list[str]:
    names = [*(u.name for u in problem.unknowns), *problem.inertial_names()]
    count = len(problem.unknowns)
    lost = np.isinf(np.diag(found.covariance))
    whole = np.sum(found.combinations**2, axis=0)
    lines = []
    for vector in found.combinations:
        share = vector**2 > NAMED * whole
        parts = [(abs(part), k) for k, part in enumerate(vector) if lost[k] and share[k]]
        parts.sort(reverse=True)
        if not parts:
            continue
        listed = ', '.join(f"'{names[k]}' ({vector[k]:+.2f})" for _, k in parts)
        what = 'is' if len(parts) == 1 else 'as a combination are'
        kinds = {LINK if k >= count else problem.unknowns[k].kind for _, k in parts}
        why = _why(kinds, problem.drive.name)
        lines.append(f'{listed} {what} not identifiable from this motion{why}')
    return lines


def _why(kinds: set[str], drive: str) -> str:
    """Return the cause and the remedy of a combination of numbers, where they are known."""
    for wanted, others, own, text in CAUSES:
        if wanted <= kinds and (not others or kinds & others) and own in ('', drive):
            return f': {text}'
    return ''


def scale_of(drive: str, problem: Problem, found: Fit) -> str:
    """Return what sets the scale of torques, and what is absolute."""
    if len(problem.directions) and drive != 'pd':
        return (
            'ratios: neither a mass nor a gain is known, so torques, inertias and friction are '
            'known up to one factor'
        )
    gains_free = any(u.name.startswith('kp.') for u in problem.unknowns)
    if len(problem.directions) and gains_free:
        return 'ratios: gains and inertias are free together, known up to one factor'
    source = 'the masses of the URDF'
    if drive == 'pd' and not gains_free:
        gains = 'the gains of the drive'
        source = gains if len(problem.directions) else f'{gains} and {source}'
    joints = _without_scale(problem, found)
    if joints:
        return (
            f'ratios for {", ".join(joints)}: nothing there shows the mass, so gain, armature and '
            f'friction are known up to one factor; elsewhere {source} set the scale of torques'
        )
    return f'absolute: {source} set the scale of torques'


def _without_scale(problem: Problem, found: Fit) -> list[str]:
    """Return the joints whose armature and whose gain (kp, kt or R) the data do not determine."""
    lost = {
        u.name
        for u, variance in zip(problem.unknowns, np.diag(found.covariance))
        if np.isinf(variance)
    }
    return [
        joint
        for joint in problem.robot.joint_names
        if f'armature.{joint}' in lost and lost & {f'{gain}.{joint}' for gain in ('kp', 'kt', 'R')}
    ]
