"""The search for exciting motions: how much better than random motions within the same limits."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from bench.figure import Figure, generic, in_turns
from robot_id.cli.excite import KERNELS as EXCITE_KERNELS
from robot_id.dynamics import warm_up
from robot_id.excitation.clearance import Clearance, clearance_of
from robot_id.excitation.criteria.criterion import by_singular_values
from robot_id.excitation.design import ExcitationOptions, make_objective
from robot_id.excitation.objective import Objective
from robot_id.excitation.search import search
from robot_id.excitation.worker import draw
from robot_id.robot import Robot, load_robot
from robot_id.trajectory.trajectory import Array

BUDGET_S = 60.0
EVALUATIONS = 60
SEARCHED = 400
RANDOM_MOTIONS = 200
HARMONICS = (5, 8, 12, 16, 30)
LEAST_RATIO = 5.0


def best_of_random(robot: Robot, clearance: Clearance | None, harmonics: int) -> float:
    """Return the smallest cond(Phi) of random Fourier motions that touch the limits."""
    objective, _ = make_objective(
        robot, ExcitationOptions(order=harmonics, criterion='weighted'), clearance
    )
    rng, scores = np.random.default_rng(99), []
    while len(scores) < RANDOM_MOTIONS:
        X = objective.shrink(draw(objective, rng), 80)
        if X is not None:
            motion = objective.family.member(X, objective.limits.middle)
            scores.append(objective.figures(motion, refine=10)['weighted'])
    return min(scores)


def bench_tx40() -> list[Figure]:
    """Compare cond(Phi) of the TX40, two threads, with the best of 200 random motions."""
    robot = load_robot('tx40')
    clearance = clearance_of(robot)
    objective, _ = make_objective(robot, ExcitationOptions(criterion='weighted'), clearance)
    warm_up(*EXCITE_KERNELS)
    found = search(objective, BUDGET_S, workers=2)
    ours = found.figures['weighted']
    figures = [Figure(f'TX40 cond(Phi), {BUDGET_S:g} s of search', ours)]
    for harmonics in HARMONICS:
        best = best_of_random(robot, clearance, harmonics)
        name = f'TX40 cond(Phi), best of {RANDOM_MOTIONS} random, {harmonics} harmonics'
        figures.append(Figure(name, best, '', 'the search', best / ours, LEAST_RATIO))
    figures.append(
        Figure('TX40 evaluations of the criterion', found.evaluations / found.elapsed_s, '1/s')
    )
    return figures


class PlainObjective(Objective):
    """The same criterion by one factorisation of all rows and its singular values."""

    def _criterion(self, rows: Array, power: float) -> tuple[float, Array]:
        N, n, b = rows.shape[1], self.robot.n, len(self.robot.base)
        W = np.zeros((N, n * b))
        W[:, self.acting.flat] = rows.T
        weight = np.tile(self.parameter_weights, (N * n, 1))
        Phi = W.reshape(N * n, b) * weight
        R = np.asarray(np.linalg.qr(Phi, mode='r'))
        value, inward = by_singular_values(self.criterion.smooth, R, power)
        slope = (weight * (Phi @ inward)).reshape(N, n * b)
        return value, np.ascontiguousarray(slope[:, self.acting.flat].T)


def bench_evaluations() -> list[Figure]:
    """
    Evaluations of the criterion with its gradient on one core, without clearance.

    The generic kernels share all of the evaluation but the regressor and its slopes with the
    generated code, so that what makes both faster is not in that ratio. The other one is against
    about the evaluation before any of this: it also spreads the acting entries over all columns,
    a hundredth of its time. The search is one of the same seed and the same number of evaluations.
    """
    objective, _ = make_objective(
        load_robot('tx40'), ExcitationOptions(criterion='weighted'), None
    )
    plain = copy.copy(objective)
    plain.__class__ = PlainObjective
    x = draw(objective, np.random.default_rng(0)).ravel()
    difference = np.abs(objective(x, 6.0, 60.0)[1] - plain(x, 6.0, 60.0)[1]).max()
    if not difference < 1e-6:
        raise AssertionError(f'the two gradients differ by {difference:g}')

    def repeated(one: Objective) -> Callable[[], object]:
        return lambda: [one(x, 6.0, 60.0)[0] for _ in range(EVALUATIONS)]

    def searched(one: Objective) -> Callable[[], object]:
        return lambda: search(one, BUDGET_S, workers=1, evaluations=SEARCHED)

    figures = []
    for name, work, count in (
        ('TX40 evaluations of the criterion, one core, no clearance', repeated, EVALUATIONS),
        ('TX40 evaluations of a search, one core, no clearance', searched, SEARCHED),
    ):
        seconds = in_turns(
            {
                'generated': work(objective),
                'generic': generic(work(objective)),
                'plain': generic(work(plain)),
            },
            repeats=5,
        )
        own = seconds['generated']
        for against, key, target in (
            ('generic kernels', 'generic', 2.0),
            ('generic kernels, one QR of all rows and its singular values', 'plain', 2.0),
        ):
            figures.append(Figure(name, count / own, '1/s', against, seconds[key] / own, target))
    return figures
