"""The direction of gravity: an arm on a wall or a ceiling whose robot file says floor."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from robot_id.tasks.checks.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis

Array = NDArray[np.float64]

THRESHOLD = 1.0
SIZE = 9.81
# Steps of the refinement on the sphere, rad.
FINE = (0.5, 0.25, 0.12, 0.06, 0.03)
SMALLEST = np.deg2rad(12.0)


def propose(case: Case) -> Iterator[Proposal]:
    """Scan axes and diagonals of the base frame, and refine the best."""
    directions = [np.array(d, float) for d in product((-1, 0, 1), repeat=3) if any(d)]
    directions = [d / np.linalg.norm(d) for d in directions if np.count_nonzero(d) != 2]
    best = max((_at(case, d) for d in directions), key=lambda each: each.screened)
    if best.screened < 0.3 * THRESHOLD:
        return
    for step in FINE:
        for _ in range(3):
            g = np.array(best.hypothesis.gravity) / SIZE
            tried = [_at(case, _turned(g, step * a)) for a in _across(g)]
            better = max(tried, key=lambda each: each.screened)
            if better.screened <= best.screened:
                break
            best = better
    old, new = case.robot.gravity, np.array(best.hypothesis.gravity)
    cosine = float(old @ new / (np.linalg.norm(old) * SIZE + 1e-12))
    if np.arccos(np.clip(cosine, -1, 1)) > SMALLEST:
        yield best


def _across(g: Array) -> list[Array]:
    """Return four unit vectors across a direction."""
    helper = np.eye(3)[int(np.argmin(np.abs(g)))]
    u = np.cross(g, helper)
    u /= np.linalg.norm(u)
    v = np.cross(g, u)
    return [u, -u, v, -v]


def _turned(g: Array, change: Array) -> Array:
    moved = g + change
    return np.asarray(moved / np.linalg.norm(moved))


def _at(case: Case, direction: Array) -> Proposal:
    values = SIZE * direction
    exact = np.where(np.abs(np.abs(direction) - 1) < 0.002, np.sign(direction) * SIZE, values)
    gravity = tuple(float(g) for g in exact)
    hypothesis = Hypothesis(gravity=gravity)
    make = _finding(case, gravity)
    return proposal(case, 'gravity_direction', hypothesis, make, THRESHOLD)


def _finding(case: Case, gravity: tuple[float, ...]):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        g = np.array(gravity)
        axis = int(np.argmax(np.abs(g)))
        if abs(g[axis]) > SIZE * np.cos(np.deg2rad(4.0)):
            g = np.sign(g[axis]) * SIZE * np.eye(3)[axis]
        text = ', '.join(f'{v:.3g}' for v in g)
        given = ', '.join(f'{v:.3g}' for v in case.robot.gravity)
        return Finding(
            'gravity_direction',
            None,
            certainty(found.gain, found.threshold),
            f'gravity acts along [{text}] of the base frame, not [{given}]: the arm is mounted '
            f'differently; with this direction the {improvement(case, found)}',
            f'gravity: [{text}] in the robot file',
            Remedy(gravity=(float(g[0]), float(g[1]), float(g[2]))),
        )

    return make
