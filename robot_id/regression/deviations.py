"""Deviations that hold: the covariance of a fit from its residual, which is not white noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.regression import sandwich
from robot_id.regression.bootstrap import bootstrap_covariance
from robot_id.regression.changing_noise import changing_score_covariance
from robot_id.regression.observation import Observation
from robot_id.regression.triangular import RowFactor

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Rows that are factorised at a time.
CHUNK = 4000


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
    shifted = not common and bool(np.any(observation.processing.torque_offset_s or 0.0))
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
