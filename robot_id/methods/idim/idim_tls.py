"""IDIM with mixed LS-TLS on the triangular factor of [W Y]: errors in W as well as in Y."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError, OptionError, did_you_mean
from robot_id.methods.idim.common import Fit, Idim
from robot_id.progress import Progress
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.least_squares import Solution, condition_number
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import triangle

Array = NDArray[np.float64]


def total_least_squares(
    R: Array, rows: int, kept: NDArray[np.bool_], exact: NDArray[np.bool_]
) -> Solution:
    """
    Solve the mixed LS-TLS problem from the factor of [W Y].

    With the exact columns first, [W1 W2 Y] = Q [[R11 R12 r1], [0 R22 r2]]: TLS on [R22 r2] gives
    chi2, back substitution in the first block row chi1. The covariance is first order (Van Huffel
    and Vandewalle): sigma^2 (1 + |x|^2) (R'R - s^2 D)^-1 in scaled units, with s the
    smallest singular value, sigma^2 = s^2 / r, and D one for the columns with errors.

    :param R: (b + 1, b + 1).
    :param rows: number r of equations.
    :param kept: (b,) parameters to solve for.
    :param exact: (b,) columns without error.
    """
    b = R.shape[1] - 1
    first, second = np.flatnonzero(kept & exact), np.flatnonzero(kept & ~exact)
    order = np.concatenate([first, second])
    k, p = len(first), len(order)
    if len(second) == 0:
        raise IdentificationError('exact: names every parameter, use idim_ols for that')
    if rows <= p:
        raise IdentificationError(
            f'{rows} equations for {p} parameters: record more motion or decimate less'
        )
    norms = np.linalg.norm(R, axis=0)
    norms[norms == 0.0] = 1.0  # torques that are all zero
    T = triangle(R[:, np.append(order, b)] / norms[np.append(order, b)])
    _, s, Vt = np.linalg.svd(T[k:, k:])
    v = Vt[-1]
    gap = s[-2] - s[-1]
    if abs(v[-1]) < 1e-8 or gap <= 1e-12 * s[0]:
        raise IdentificationError(
            'total least squares has no unique solution on these data: the errors are as large as '
            'the smallest excitation; filter more or use idim_wls'
        )
    x = np.empty(p)
    x[k:] = -v[:-1] / v[-1]
    x[:k] = sl.solve_triangular(T[:k, :k], T[:k, -1] - T[:k, k:-1] @ x[k:])
    chi = np.zeros(b)
    chi[order] = x * norms[b] / norms[order]
    reduced = T[:p, :p].T @ T[:p, :p]
    reduced[range(k, p), range(k, p)] -= s[-1] ** 2
    scaled = sl.solve(reduced, np.eye(p), assume_a='sym')
    scaled *= s[-1] ** 2 / (rows - p) * (1.0 + x[k:] @ x[k:])
    unit = norms[b] / norms[order]
    covariance = np.full((b, b), np.nan)
    covariance[np.ix_(order, order)] = scaled * np.outer(unit, unit)
    residual = float(np.linalg.norm(R[:, b] - R[:, :b] @ chi))
    freedom = rows - p
    condition = condition_number(R[:, order])
    return Solution(chi, covariance, kept, residual, residual**2 / freedom, condition, freedom)


@dataclass(frozen=True)
class IdimTls(Idim):
    """
    Total least squares by the SVD of [W Y], each column scaled to length one.

    Minimises the Frobenius norm of the scaled [dW dY] with (W + dW) chi = Y + dY: every column is
    taken to have the same relative error. Columns that hold no measurement (`exact`) are
    eliminated by QR first, so they keep their values (mixed LS-TLS).

    :param exact: parameters whose columns are free of error, patterns such as Off* allowed.
    :param weighted: weigh the joints as idim_wls does.
    """

    name: ClassVar[str] = 'idim_tls'
    linear: ClassVar[bool] = False
    least_squares: ClassVar[bool] = False

    exact: tuple[str, ...] = ('Off*',)
    weighted: bool = True

    def fit(self, observation: Observation, system: System, progress: Progress) -> Fit:
        """Solve by the smallest singular vector."""
        weights, sigma = system.joint_weights()
        names = system.factors.names
        kept = np.ones(len(names), bool) if system.kept is None else system.kept
        R = system.factors.stack(weights if self.weighted else None)
        solution = total_least_squares(R, system.rows, kept, self._exact(names))
        extras = {'joint_deviations': sigma.tolist()} if self.weighted else {}
        weights = weights if self.weighted else np.ones_like(weights)
        return Fit(solution, R, weights, sigma, extras)

    def _exact(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        for pattern in self.exact:
            if pattern not in ('Off*', 'none') and not any(fnmatchcase(n, pattern) for n in names):
                raise OptionError(
                    f"exact: no parameter '{pattern}', {did_you_mean(pattern, names)}"
                )
        return np.array([any(fnmatchcase(n, p) for p in self.exact) for n in names])
