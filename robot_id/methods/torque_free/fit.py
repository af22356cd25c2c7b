"""
The fit of a servo loop: descents from several starts, and the covariance of the answer.

It minimises sum_j sum_k rho((y - y_s(theta))^2 / w_j^2): y measured, y_s simulated from the first
state of each piece on under the recorded commands alone, w_j the size of the residual of joint j
(found by a first fit). Residuals of open simulations are correlated over seconds, so the
covariance is a sandwich: the scores J' r are summed over blocks of each recording.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from robot_id.methods.torque_free.descent import (
    WEAKEST_PRIOR,
    Loss,
    descend,
    residual_of,
    robust,
)
from robot_id.methods.torque_free.problem import Problem
from robot_id.progress import Progress, silent
from robot_id.regression.uncertainty.sandwich import score_covariance

Array = NDArray[np.float64]
# Evaluations of one descent, and the relative change of cost and step that ends it.
EVALUATIONS, ACCURACY = 80, 1e-6
# That of a search, where the next descent goes on.
ROUGH = 1e-4
# Standard deviation of the draws of starts, in natural logarithms or scales.
SPREAD = 0.7
# The first descents of several starts are cut after these evaluations, and the best goes on.
TRIAL_EVALUATIONS = 40
# The smallest size of a residual, rad or m: simulated data without noise have weights too.
SMALLEST_SIZE = 1e-7
# A block of a run that is longer than this many correlation times counts as independent.
CORRELATION_TIMES = 4.0


@dataclass(frozen=True)
class Fit:
    """
    What a fit found.

    :param x: (size,) inner values.
    :param covariance: (shared, shared) of the inner values; infinite variances on the diagonal
        where a value is not identifiable.
    :param sizes: (n,) sizes of the residuals by joint, rad or m.
    :param residuals: (N, n) measured less simulated position of each run.
    :param cost: half the weighted sum of squares.
    :param evaluations: of the descents.
    :param converged: whether the last descent ended by itself.
    :param singular: (shared,) singular values of the scaled sensitivity, largest first.
    :param combinations: those that the data do not determine, (k, shared) unit vectors.
    :param condition: of the scaled sensitivity.
    """

    x: Array
    covariance: Array
    sizes: Array
    residuals: list[Array]
    cost: float
    evaluations: int
    converged: bool
    singular: Array
    combinations: Array = field(default_factory=lambda: np.empty((0, 0)))
    condition: float = float('nan')


def fit(
    problem: Problem, loss: Loss = 'soft_l1', first: Array | None = None, evaluations: int = 0
) -> Fit:
    """
    Return the answer of a descent, and of a second one with the sizes of its residuals.

    :param loss: outliers are three sizes of the residual.
    :param first: inner values of the start, (shared,) or all; those of the problem when None.
    :param evaluations: of a search before.
    """
    x = problem.start()
    if first is not None:
        x[: len(first)] = first
    x = np.clip(x, *problem.bounds())
    for _ in range(2):
        sizes = np.maximum(_sizes(problem, x), SMALLEST_SIZE)
        found = descend(problem, x, sizes, loss, EVALUATIONS, ACCURACY)
        x = found.x
        evaluations += found.evaluations
    return summarise(problem, x, sizes, loss, evaluations, found.converged)


def search(
    problem: Problem, loss: Loss, starts: int, seed: int = 0, progress: Progress = silent
) -> tuple[Array, int]:
    """
    Return the inner values of the best of several short descents, and their evaluations.

    :param starts: number of starts: that of the problem, and others around it.
    """
    rng = np.random.default_rng(seed)
    low, high = problem.bounds()
    centre = np.clip(problem.start(), low, high)
    sizes = np.maximum(_sizes(problem, centre), SMALLEST_SIZE)
    count = len(problem.unknowns)
    tried = []
    for number in range(starts):
        x = centre.copy()
        if number > 0:
            x[:count] += SPREAD * rng.normal(size=count)
        x = np.clip(x, low, high)
        tried.append(descend(problem, x, sizes, loss, TRIAL_EVALUATIONS, ROUGH))
        progress((number + 1) / (starts + 1), f'start {number + 1} of {starts}')
    best = min(tried, key=lambda each: each.cost)
    return best.x, sum(each.evaluations for each in tried)


def _sizes(problem: Problem, x: Array) -> Array:
    """Return the robust size of the residual of each joint, (n,)."""
    rho = np.concatenate([residual_of(problem, x, k) for k in range(len(problem.runs))])
    return np.asarray(
        np.sqrt(np.mean(np.minimum(rho**2, 9.0 * np.median(rho**2, axis=0) + 1e-18), axis=0))
    )


def summarise(
    problem: Problem,
    x: Array,
    sizes: Array,
    loss: Loss,
    evaluations: int,
    converged: bool,
    white: bool = False,
) -> Fit:
    """
    Return the fit at x with its covariance.

    :param white: count residuals as white noise of these sizes, as before a fit.
    """
    residuals = [-residual_of(problem, x, k) for k in range(len(problem.runs))]
    weighted = [rho / sizes for rho in residuals]
    influence = [rho * robust(rho, loss)[1] for rho in weighted]
    if white:
        influence = [np.ones_like(rho) for rho in weighted]
    parts = [_sensitivity(problem, x, k) / sizes[:, None] for k in range(len(problem.runs))]
    covariance, singular, combinations, condition = _covariance(problem, x, parts, influence)
    cost = 0.5 * float(sum(np.sum(rho**2) for rho in weighted))
    return Fit(
        x, covariance, sizes, residuals, cost, evaluations, converged, singular, combinations,
        condition,
    )  # fmt: skip


def _sensitivity(problem: Problem, x: Array, index: int) -> Array:
    """Return (N, n, shared + own) of a run, zeros where it diverges."""
    found = problem.simulate(x, index, sensitive=True)
    shape = (*problem.runs[index].measured.shape, problem.shared + problem.own)
    return np.zeros(shape) if found is None else found[1]


def _covariance(
    problem: Problem, x: Array, parts: list[Array], influence: list[Array]
) -> tuple[Array, Array, Array, float]:
    """Return covariance, singular values, undetermined combinations and condition number."""
    shared, own = problem.shared, problem.own
    # The first states are eliminated run by run: what they explain of the other columns goes, and
    # what they take of the residual too.
    reduced, taken = [], 0.0
    for part in parts:
        N, n, _ = part.shape
        J = part.reshape(N * n, -1)
        if own:
            A = np.vstack([J[:, shared:], np.eye(own)])
            B = np.vstack([J[:, :shared], np.zeros((own, shared))])
            Q = np.linalg.qr(A)[0]
            J = (B - Q @ (Q.T @ B))[: N * n]
            taken += float(np.sum(Q[: N * n] ** 2))
        else:
            J = J[:, :shared]
        reduced.append(J.reshape(N, n, shared))
    rows = problem.priors(x)[1]
    stacked = np.vstack([*(part.reshape(-1, shared) for part in reduced), rows])
    _, s, Vt = np.linalg.svd(stacked, full_matrices=False)
    spread = float(np.sqrt(np.mean(np.concatenate(influence) ** 2)))
    good = s > max(spread / WEAKEST_PRIOR, 1e-10 * float(s[0]) if len(s) else 0.0)
    whole = Vt[~good]
    V = Vt[good].T / s[good]
    covariance = np.zeros((shared, shared))
    if good.any():
        meat = _meat(*_recordings(problem, [part @ V for part in reduced], influence))
        samples = sum(rho.size for rho in influence)
        meat *= samples / max(samples - taken - float(good.sum()), 1.0)
        if len(rows):
            prior = rows @ V
            meat = meat + prior.T @ prior
        covariance = V @ meat @ V.T
    # What the data do not determine has the weakest prior; where that is most, there is no std.
    vague = WEAKEST_PRIOR**2 * (whole.T @ whole)
    covariance = covariance + vague
    lost = np.diag(vague) > 0.5 * np.diag(covariance)
    covariance[lost, lost] = np.inf
    condition = float(s[0] / s[-1]) if len(s) and s[-1] > 0.0 else float('inf')
    return covariance, s, whole, condition


def _recordings(
    problem: Problem, Z: list[Array], influence: list[Array]
) -> tuple[list[Array], list[Array]]:
    """Return both with the pieces of a recording joined: what is unmodelled does not end there."""
    numbers = [run.recording for run in problem.runs]
    places = [[k for k, own in enumerate(numbers) if own == one] for one in dict.fromkeys(numbers)]
    return (
        [np.concatenate([Z[k] for k in own]) for own in places],
        [np.concatenate([influence[k] for k in own]) for own in places],
    )


def _meat(Z: list[Array], influence: list[Array]) -> Array:
    """
    Return cov(Z' rho): by the spectrum for short memories, by blocks for long ones.

    It is at least that of white noise: the sandwich of few rows is itself uncertain, and mostly
    too small, because rows that matter most are fitted best.
    """
    rows = sum(map(len, influence))
    memory = max(_correlation_time(rho) for rho in influence)
    length = int(np.ceil(CORRELATION_TIMES * memory))
    power = np.mean(np.concatenate(influence) ** 2, axis=0)
    white = np.sum([np.einsum('tja,tjb,j->ab', z, z, power) for z in Z], axis=0)
    near = _larger(score_covariance(Z, influence), white)
    scores = []
    for z, rho in zip(Z, influence):
        for first in range(0, len(rho), length):
            piece = slice(first, first + length)
            scores.append(np.einsum('tjb,tj->b', z[piece], rho[piece]))
    S = np.array(scores)
    if len(S) > rows / 20:
        return near  # the memory is short: the spectrum sees all of it
    # Few blocks: Student's quantile in place of the normal one.
    freedom = max(len(S) - 1, 1)
    factor = len(S) / freedom * (stdtrit(freedom, 0.975) / ndtri(0.975)) ** 2
    return _larger(factor * (S.T @ S), near)


def _larger(one: Array, other: Array) -> Array:
    """Return the larger of two covariances in every direction; the other is definite."""
    size = 1e-12 * float(np.trace(other))
    values, vectors = sl.eigh(one, other + size * np.eye(len(other)))
    root = np.linalg.pinv(vectors.T)
    return np.asarray((root * np.maximum(values, 1.0)) @ root.T)


def _correlation_time(rho: Array) -> float:
    """Return the largest integrated correlation time of the joints' residuals, in samples."""
    longest = 1.0
    for column in rho.T:
        centred = column - column.mean()
        power = float(centred @ centred)
        if power <= 0.0:
            continue
        total = 1.0
        for lag in range(1, len(centred) // 4):
            r = float(centred[:-lag] @ centred[lag:]) / power
            if r < 0.05:
                break
            total += 2.0 * r
        longest = max(longest, total)
    return longest
