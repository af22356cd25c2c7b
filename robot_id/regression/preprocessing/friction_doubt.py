"""
What is not known of the law of friction, as deviations of all parameters.

Friction of real drives turns softly around rest, with a peak there, or grows with load and speed,
in each joint as it likes. A fit without such a term puts it into Coulomb and viscous friction, and
some into inertias, and nothing of that shows in its residual. So each of these terms is tried:
with it the estimate would move by s, and the likelihood of the rows says with which probability p
the joint has it. The sum of p s s' over all terms belongs to the covariance (Bayesian model
averaging around the estimate without them; Hoeting et al. 1999).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.regression.preprocessing.rest_band import top_speeds
from robot_id.regression.preprocessing.torque_delay import OffsetFit
from robot_id.regression.rows.observation import Observation
from robot_id.regression.rows.reversals import without
from robot_id.regression.rows.sampling import Rows, States, join, walk
from robot_id.regression.solvers.triangular import triangle

Array = NDArray[np.float64]
# Speeds up to which friction may not have its full size yet, of the joint's top speed.
WIDTHS = (0.03, 0.06, 0.12, 0.25, 0.5)
# Terms of a joint: one for each width, load and speed.
TERMS = len(WIDTHS) + 2
# Of the norm of a column, what must be left of it beside the model for it to be tried.
APART = 1e-3


def friction_doubt(
    rows: Observation, kept: NDArray[np.bool_], weights: Array, fit: OffsetFit, alike: float
) -> Array:
    """
    Return the (b, b) covariance of an estimate since its law of friction is not certain.

    :param rows: of the fit, as `weighted_rows` takes them.
    :param kept: (b,) parameters that were solved for.
    :param weights: (n,) of the joints.
    :param alike: rows that tell as much as an independent one.
    """
    top = np.maximum(top_speeds(rows.dataset), 1e-9)

    def columns(s: States) -> Array:
        x, sign = s.dq / top, np.sign(s.dq)
        soft = [sign * np.maximum(1.0 - np.abs(x) / width, 0.0) for width in WIDTHS]
        return np.concatenate([*soft, sign * np.abs(s.torque), sign * x**2], axis=1)

    p = fit.G[0].shape[2]
    R = triangle(np.concatenate([g.reshape(-1, p) for g in fit.G]))[:p]
    doubt = np.zeros((p, p))
    pieces = list(walk(rows.dataset, rows.processing, columns))
    joined = [join([one for one in pieces if one.run == k]) for k in {one.run for one in pieces}]
    for j in range(rows.n):
        T = np.concatenate([_of_joint(rows, one, j) for one in joined]) * weights[j]
        G = np.concatenate([g[:, j] for g in fit.G])
        rho = np.concatenate([one[:, j] for one in fit.residual])
        size = np.sum(T**2, axis=0)
        along = sl.solve_triangular(R, G.T @ T, trans='T')
        left = size - np.sum(along**2, axis=0)
        apart = left > APART**2 * size
        if not apart.any():
            continue
        theta = (T.T @ rho)[apart] / left[apart]
        shifts = sl.solve_triangular(R, along[:, apart] * theta)
        taken = theta**2 * left[apart] / max(float(rho @ rho), np.finfo(float).tiny)
        count = max(np.count_nonzero(rho) / alike, 1.0)
        odds = -0.5 * count * np.log(np.maximum(1.0 - taken, 1e-12)) - 0.5 * np.log(count)
        odds -= np.log(TERMS)
        share = np.exp(odds - max(float(odds.max()), 0.0))
        share /= share.sum() + np.exp(-max(float(odds.max()), 0.0))
        doubt += (shifts * share) @ shifts.T
    whole = np.zeros((kept.size, kept.size))
    whole[np.ix_(kept, kept)] = doubt[:-1, :-1]
    return whole


def _of_joint(rows: Observation, piece: Rows, j: int) -> Array:
    """(r, TERMS) the columns of a joint, without its reversals and zero where it has no row."""
    T = np.where(piece.used[:, j, None], piece.values[:, j :: rows.n], 0.0)
    used, run = piece.used[:, j], rows.dataset.runs[piece.run]
    bases = rows.reversals.bases(piece.run, run, j, piece.time[used], rows.processing)
    T[used] = without(T[used], bases)[0]
    return T
