"""Why a search found no motion: what forbids random motions however small they are made."""

from __future__ import annotations

from collections import Counter

import numpy as np

from robot_id import dynamics
from robot_id.excitation.objective import Objective
from robot_id.excitation.worker import draw

# Motions that are looked at, part of their size, instants of each, and causes that are named.
MOTIONS, SMALL, INSTANTS, NAMED = 20, 2.0**-8, 20, 3


def hindrance(objective: Objective, rng: np.random.Generator) -> str:
    """Return how many of some random motions, made small, each cause forbids, in one line."""
    limits, clearance = objective.limits, objective.clearance
    causes: Counter[str] = Counter()
    for _ in range(MOTIONS):
        X = draw(objective, rng)
        X[1:] *= SMALL
        q, dq, ddq = objective.family.member(X, limits.middle).sampled_evenly(INSTANTS)
        if objective.expected is not None:
            tau = dynamics.inverse_dynamics(objective.robot, objective.expected, q, dq, ddq)
            beyond = np.any(np.abs(tau) > limits.torque, axis=0)
            names = np.array(objective.robot.joint_names)[beyond].tolist()
            causes.update(f"the torque limit of joint '{name}'" for name in names)
        if clearance is not None:
            distance, pair = clearance.worst(q)
            if distance < clearance.margin:
                causes[f'{pair}, less than {clearance.margin:g} m apart'] += 1
    said = [f'{count} by {cause}' for cause, count in causes.most_common(NAMED)]
    return f'of {MOTIONS}, however small, are forbidden {", ".join(said)}' if said else ''
