"""Standard deviations that hold: the covariance of a fit from its residual, seldom white noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.fft
import scipy.linalg as sl
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.triangular import JointFactors, RowFactor, triangle
from robot_id.regression.uncertainty import sandwich
from robot_id.regression.uncertainty.bootstrap import bootstrap_covariance

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Rows that are factorised at a time.
CHUNK = 4000
# Share of the energy of the slopes that lies in their band.
IN_BAND = 0.99
# Degrees of freedom of Parzen's window over rows per reach.
PARZEN_FREEDOM = 3.7
# The reach is at most this part of the rows.
LARGEST_PART = 0.25


def joint_covariance(
    factors: JointFactors, kept: NDArray[np.bool_], weights: Array, noise: Array
) -> Array:
    """
    Return the (b, b) covariance of the solution that weighs the rows of joint j by g_j.

    C = A^-1 (sum_j g_j^4 s_j^2 W_j'W_j) A^-1 with A = sum_j g_j^2 W_j'W_j, by triangular solves.
    It is the textbook s^2 (W'W)^-1 when the weights are 1 / s_j or all joints share one noise.

    :param factors: the unweighted factors.
    :param kept: (b,) parameters that were solved for; the others get NaN.
    :param weights: (n,) g_j.
    :param noise: (n,) s_j, standard deviation of the noise of joint j.
    """
    p = int(kept.sum())
    U = triangle(factors.stack(weights)[:, :-1][:, kept])[:p]
    B = triangle(factors.stack(weights**2 * noise)[:, :-1][:, kept])[:p]
    half = sl.solve_triangular(U, sl.solve_triangular(U, B.T, trans='T'))
    covariance = np.full((kept.size, kept.size), np.nan)
    covariance[np.ix_(kept, kept)] = half @ half.T
    return covariance


def changing_score_covariance(Z: Sequence[Array], residual: Sequence[Array]) -> Array:
    """
    Return (b, b) cov(Z' rho) of scores; arguments as those of `score_covariance`.

    The share of the scores is r / (r + 60 g) with r rows for each parameter, where g <= 1 is what
    chance explains of the difference; g = 1 where noise is stationary.
    """
    rows = sum(len(part) for part in residual)
    if rows > sandwich.LONG:
        return sandwich.score_covariance(Z, residual)
    b = Z[0].shape[2]
    near, spectral, freedom, stationary = np.zeros((b, b)), np.zeros((b, b)), 0.0, 0.0
    for z, rho in zip(Z, residual):
        reach = reach_of(z)
        near += sandwich.neighbour_sum(z, rho, reach)
        spectral += sandwich.spectral_sum(z, rho)
        freedom += PARZEN_FREEDOM * len(rho) / reach
        stationary += sandwich.spectral_freedom(len(rho))
    tiny = np.finfo(float).tiny
    ratio = np.maximum(np.diag(near), tiny) / np.maximum(np.diag(spectral), tiny)
    differ = float(np.mean(np.log(ratio) ** 2))
    chance = min(1.0, 2.0 / freedom / max(differ, tiny))
    share = rows / (rows + b * sandwich.HALF_SHARE * chance)
    mixed = 1.0 / (share / freedom + (1.0 - share) / stationary)
    total = share * near + (1.0 - share) * spectral
    return total * (stdtrit(mixed, 0.975) / ndtri(0.975)) ** 2


def reach_of(Z: Array) -> int:
    """Return how many neighbours of a row count for slopes Z (M, n, b), slow as they are."""
    energy = np.sum(np.abs(scipy.fft.rfft(Z, axis=0)) ** 2, axis=(1, 2))
    inside = np.cumsum(energy) / max(float(energy.sum()), np.finfo(float).tiny)
    band = (int(np.searchsorted(inside, IN_BAND)) + 1) / len(energy)
    reach = sandwich.REACH_PER_ROOT * float(np.cbrt(len(Z))) * min(band, 1.0) ** (-2.0 / 3.0)
    return max(round(min(reach, LARGEST_PART * len(Z))), 1)


def weighted_rows(
    observation: Observation, kept: Flags, weights: Array
) -> tuple[list[Array], list[Array]] | None:
    """
    Return rows [W -dY/dt] and torques Y of each run, weighted, zero where a row is left out.

    :param kept: (b,) parameters that have a column; the rate of the torques is the last one.
    :param weights: (n,) weight of each joint.
    :return: (M, n, p + 1) and (M, n) for each run; None where the rows were too many to keep.
    """
    if observation.kept_rows is None:
        return None
    wide, n, p = observation.wide, observation.n, int(kept.sum())
    place = np.cumsum(kept) - 1
    runs: dict[int, tuple[list[Array], list[Array]]] = {}
    for piece in observation.kept_rows:
        G = np.zeros((len(piece.time), n, p + 1))
        for j, columns in enumerate(wide.columns):
            own = kept[columns]
            G[:, j, place[columns[own]]] = wide.of_joint(piece.values, j)[0][:, own]
        G[:, :, p] = -observation.torque_rate(piece)
        effect = piece.used * weights
        rows, torques = runs.setdefault(piece.run, ([], []))
        G *= effect[:, :, None]
        rows.append(G)
        torques.append(wide.measured(piece.values) * effect)
    return [_joined(rows) for rows, _ in runs.values()], [_joined(y) for _, y in runs.values()]


def _joined(parts: list[Array]) -> Array:
    """Return the parts one after the other; one of them as it is, since it may be large."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def observed_covariance(
    observation: Observation,
    chi: Array,
    kept: Flags,
    weights: Array,
    bootstrap: bool = False,
) -> Array | None:
    """
    Return the (b, b) covariance of the weighted solution of an observation (NaN where not kept).

    A time offset of the torques that was estimated (`offset_std`) counts with its own deviation.

    :param bootstrap: from randomly resampled blocks of rows, not by formula.
    :return: None where the rows were too many to keep.
    """
    found = weighted_rows(observation, kept, weights)
    if found is None:
        return None
    p, common = int(kept.sum()), observation.offset_std
    # Offsets of single joints have no common deviation: the freedom that they used counts.
    shifted = not common and bool(np.any(observation.processing.torque_delay_s or 0.0))
    G = [rows if shifted else rows[:, :, :p] for rows in found[0]]
    rows_of = np.sum([np.any(rows != 0.0, axis=2).sum(axis=0) for rows in G], axis=0)
    residual = [Y - rows[:, :, :p] @ chi[kept] for rows, Y in zip(G, found[1])]
    residual = [back(observation, rows_of) * rho for rho in residual]
    part = least_squares_covariance(G, residual, bootstrap)[:p, :p]
    if common:
        rates = np.concatenate([rows[:, :, p].ravel() for rows in found[0]])
        W = np.concatenate([rows[:, :, :p].reshape(-1, p) for rows in found[0]])
        D = common * np.linalg.lstsq(W, rates, rcond=None)[0]
        part = part + np.outer(D, D)
    covariance = np.full((kept.size, kept.size), np.nan)
    covariance[np.ix_(kept, kept)] = part
    return covariance


def back(observation: Observation, rows: Array) -> Array:
    """(n,) factor by which the reversals made the residual of (n,) rows of each joint smaller."""
    return np.sqrt(rows / np.maximum(rows - observation.taken, 1))


def least_squares_covariance(
    G: Sequence[Array],
    residual: Sequence[Array],
    bootstrap: bool = False,
    changing: bool = False,
) -> Array:
    """
    Return the (p, p) covariance of the least squares solution of rows G.

    :param G: for each run (M, n, p) weighted rows of the n joints, zero where left out.
    :param residual: for each run (M, n) weighted residuals, zero where left out.
    :param bootstrap: from randomly resampled blocks of rows, not by formula.
    :param changing: the noise may change along the motion (`changing_noise`).
    """
    p = G[0].shape[2]
    factor = RowFactor(p)
    for rows in (g.reshape(-1, p) for g in G):
        for low in range(0, len(rows), CHUNK):
            factor.add(rows[low : low + CHUNK])
    R = factor.R
    if not bootstrap and sum(len(part) for part in residual) > sandwich.LONG:
        # Z = G R^-1 of a long recording would be as large as G.
        scores = sl.solve_triangular(R, sandwich.block_scores(G, residual).T, trans='T')
        root = sl.solve_triangular(R, scores)
        return root @ root.T
    Z = [sl.solve_triangular(R, g.reshape(-1, p).T, trans='T').T.reshape(g.shape) for g in G]
    root = sl.solve_triangular(R, np.eye(p))
    if bootstrap:
        scores = bootstrap_covariance(Z, Z, residual)
    elif changing:
        scores = changing_score_covariance(Z, residual)
    else:
        scores = sandwich.score_covariance(Z, residual)
    return root @ scores @ root.T
