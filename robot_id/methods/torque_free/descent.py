"""
Levenberg-Marquardt within bounds for the servo loop of many runs.

The first state of a run acts on that run alone, so the normal matrix is an arrow: the first states
are eliminated run by run, and what is left has the size of the shared unknowns, however many runs
there are. Bounds are met by the quadratic model itself (BVLS), so a friction term that the data do
not ask for is exactly zero. Where joints stick the cost has steps; a descent that no smaller step
improves has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import scipy.linalg as sl
import scipy.optimize
from numpy.typing import NDArray

from robot_id.methods.torque_free.problem import Problem

Array = NDArray[np.float64]
Loss = Literal['linear', 'soft_l1', 'huber']
# A run that diverges counts as being off by this many rad or m everywhere.
DIVERGED_BY = 10.0
# The outlier scale of a robust loss, in sizes of the residual.
OUTLIER = 3.0
# A prior of so many scales holds what the data do not determine near its start.
WEAKEST_PRIOR = 10.0
# Damping: the first, factors after good and bad steps, and what memory a scale keeps.
DAMPING, EASED, RAISED, KEPT = 1e-3, 0.2, 4.0, 0.7
# The model of the cost is good where it promised at most twice what came, bad at ten times.
GOOD, BAD = 0.5, 0.1
# Directions of the reduced matrix below this share of the largest are as flat as this.
FLATTEST = 1e-10


class Descent(NamedTuple):
    """
    Where a descent ended.

    :param x: (size,) inner values.
    :param cost: with the priors.
    :param evaluations: of all runs.
    :param converged: whether no step promised more than the accuracy.
    """

    x: Array
    cost: float
    evaluations: int
    converged: bool


@dataclass(frozen=True)
class _Arrow:
    """Cost and its quadratic model: shared (s, s), and coupling and own part of each run."""

    cost: float
    shared: Array
    slope: Array
    couplings: list[Array]
    own: list[Array]
    own_slopes: list[Array]


def robust(rho: Array, loss: Loss) -> tuple[Array, Array]:
    """Return what weighted residuals cost, twice, and the weights of their squares."""
    z = (rho / OUTLIER) ** 2
    if loss == 'soft_l1':
        root = np.sqrt(1.0 + z)
        return 2.0 * OUTLIER**2 * (root - 1.0), 1.0 / root
    if loss == 'huber':
        root = np.sqrt(np.maximum(z, 1.0))
        return OUTLIER**2 * np.where(z > 1.0, 2.0 * root - 1.0, z), 1.0 / root
    return rho**2, np.ones_like(rho)


def residual_of(problem: Problem, x: Array, index: int) -> Array:
    """Return (N, n) simulated less measured positions of a run."""
    found = problem.simulate(x, index, sensitive=False)
    measured = problem.runs[index].measured
    return np.full_like(measured, DIVERGED_BY) if found is None else found[0] - measured


def descend(
    problem: Problem, x: Array, sizes: Array, loss: Loss, evaluations: int, accuracy: float
) -> Descent:
    """
    Return where the descent from x ends.

    :param sizes: (n,) of the residuals of the joints.
    :param evaluations: at most, of all runs.
    :param accuracy: a step that promises a smaller share of the cost is not taken.
    """
    low, high = (bound[: problem.shared] for bound in problem.bounds())
    x = _within(x, low, high)
    model = _model(problem, x, sizes, loss)
    damping, scale, count, idle = DAMPING, np.diag(model.shared).copy(), 1, 0
    while count < evaluations:
        step, promised = _step(problem, model, x, damping, scale, low, high)
        if promised <= accuracy * model.cost:
            return Descent(x, model.cost, count, True)
        new = _within(x + step, low, high)
        cost = _cost(problem, new, sizes, loss)
        count += 1
        gained = model.cost - cost
        if gained <= 0.0:
            damping *= RAISED
            continue
        idle = idle + 1 if gained < accuracy * model.cost else 0
        if gained > GOOD * promised:
            damping *= EASED
        elif gained < BAD * promised:
            damping *= RAISED
        x, model = new, _model(problem, new, sizes, loss)
        scale = np.maximum(KEPT * scale, np.diag(model.shared))
        if idle > 1:
            return Descent(x, model.cost, count, True)
    return Descent(x, model.cost, count, False)


def _within(x: Array, low: Array, high: Array) -> Array:
    x = x.copy()
    x[: len(low)] = np.clip(x[: len(low)], low, high)
    return x


def _off(problem: Problem, x: Array) -> Array:
    """Return how far the shared unknowns are from the start, in the weakest prior's deviations."""
    shared = problem.shared
    return (x[:shared] - problem.start()[:shared]) / WEAKEST_PRIOR


def _prior_cost(problem: Problem, x: Array) -> float:
    parts = problem.priors(x)[0], _off(problem, x), x[problem.shared :]
    return 0.5 * float(sum(part @ part for part in parts))


def _cost(problem: Problem, x: Array, sizes: Array, loss: Loss) -> float:
    total = _prior_cost(problem, x)
    for k in range(len(problem.runs)):
        total += 0.5 * float(robust(residual_of(problem, x, k) / sizes, loss)[0].sum())
    return total


def _model(problem: Problem, x: Array, sizes: Array, loss: Loss) -> _Arrow:
    """Return the quadratic model of the cost at x."""
    s, own = problem.shared, problem.own
    values, rows = problem.priors(x)
    shared = rows.T @ rows + np.eye(s) / WEAKEST_PRIOR**2
    slope = rows.T @ values + _off(problem, x) / WEAKEST_PRIOR
    cost = _prior_cost(problem, x)
    couplings, blocks, slopes = [], [], []
    for k, run in enumerate(problem.runs):
        found = problem.simulate(x, k, sensitive=True)
        if found is None:
            N, g = np.zeros((s + own, s + own)), np.zeros(s + own)
            rho = np.full_like(run.measured, DIVERGED_BY) / sizes
        else:
            rho = (found[0] - run.measured) / sizes
            J = (found[1] / sizes[:, None]).reshape(rho.size, -1)
            weight = robust(rho, loss)[1].ravel()
            N, g = (J.T * weight) @ J, J.T @ (weight * rho.ravel())
        cost += 0.5 * float(robust(rho, loss)[0].sum())
        shared += N[:s, :s]
        slope += g[:s]
        couplings.append(N[:s, s:])
        blocks.append(N[s:, s:] + np.eye(own))
        slopes.append(g[s:] + x[problem.place(k)])
    return _Arrow(cost, shared, slope, couplings, blocks, slopes)


def _step(
    problem: Problem,
    model: _Arrow,
    x: Array,
    damping: float,
    scale: Array,
    low: Array,
    high: Array,
) -> tuple[Array, float]:
    """Return the step within the bounds, and how much the model promises to gain by it."""
    s = problem.shared
    S, g = model.shared + np.diag(damping * scale), model.slope.copy()
    promised = 0.0
    solved = []
    for B, C, b in zip(model.couplings, model.own, model.own_slopes):
        Y = np.empty((0, s + 1))
        if len(b):
            damped = C + np.diag(damping * np.diag(C))
            Y = sl.solve(damped, np.column_stack([B.T, b]), assume_a='pos')
        S -= B @ Y[:, :s]
        g -= B @ Y[:, s]
        promised += 0.5 * float(b @ Y[:, s])
        solved.append(Y)
    w, V = np.linalg.eigh(0.5 * (S + S.T))
    root = np.sqrt(np.maximum(w, FLATTEST * w[-1]))
    # Open bounds only: equal ones are a hair apart.
    bounds = (low - x[:s] - 1e-12, high - x[:s] + 1e-12)
    d = scipy.optimize.lsq_linear((V * root).T, -(V / root).T @ g, bounds, method='bvls').x
    step = np.zeros(problem.size)
    step[:s] = d
    for k, Y in enumerate(solved):
        step[problem.place(k)] = -Y[:, s] - Y[:, :s] @ d
    return step, promised - float(g @ d + 0.5 * d @ S @ d)
