"""The search for exciting motions: how much better than random motions within the same limits."""

from __future__ import annotations

import numpy as np

from bench.figure import Figure, generic, in_turns
from robot_id.dynamics import warm_up
from robot_id.excitation.clearance import Clearance, clearance_of
from robot_id.excitation.design import ExcitationOptions, make_objective
from robot_id.excitation.random_motion import draw
from robot_id.excitation.search import search
from robot_id.model import Robot, load_robot

BUDGET_S = 60.0
EVALUATIONS = 60
RANDOM_MOTIONS = 200
HARMONICS = (5, 8, 12, 16, 30)
LEAST_RATIO = 5.0


def best_of_random(robot: Robot, clearance: Clearance | None, harmonics: int) -> float:
    """Return the smallest cond(Phi) of random Fourier motions that touch the limits."""
    objective, _ = make_objective(robot, ExcitationOptions(order=harmonics), clearance)
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
    objective, _ = make_objective(robot, ExcitationOptions(), clearance)
    warm_up('regressor', 'regressor_slopes', 'inverse_dynamics')
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


def bench_evaluations() -> list[Figure]:
    """Evaluations of the criterion by one worker, against the generic kernels."""
    objective, _ = make_objective(load_robot('tx40'), ExcitationOptions(), None)

    def work() -> object:
        return search(objective, BUDGET_S, workers=1, evaluations=EVALUATIONS)

    seconds = in_turns({'generated': work, 'generic': generic(work)}, repeats=3)
    rate = EVALUATIONS / seconds['generated']
    ratio = seconds['generic'] / seconds['generated']
    name = 'TX40 evaluations of the criterion, one core, no clearance'
    return [Figure(name, rate, '1/s', 'generic kernels', ratio, 2.0)]
