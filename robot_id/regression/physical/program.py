"""
The problem that both solvers solve: least squares with the entropic distance to a prior.

min ||A v - b||^2 + sum_i w_i (tr P_i - log det P_i) + sum_j (l_j s_j - u_j log s_j)

P_i = smat(p0_i + F_i v) is the pseudo-inertia of body i in units of its prior, whose own value is
the identity; s = s0 + G v are scalars that stay positive (rotor inertia, friction, slacks of
bounds). The distance tr P - log det P - 4 is zero at the prior and grows without end towards a
body that does not exist, so the minimum is unique and strictly inside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.regression.physical.pseudo_inertia import BASIS, SIZE, smat, svec

Array = NDArray[np.float64]
_FLAT = BASIS.reshape(len(BASIS), -1)
_EYE = svec(np.eye(SIZE))


@dataclass(frozen=True)
class Program:
    """
    One problem in k variables v, whose start v = 0 is strictly inside.

    :param A: (r, k) and b (r,): the data, in units of their deviation.
    :param p0: (nb, 10) svec of the bodies at v = 0.
    :param F: (nb, 10, k) their slopes.
    :param w: (nb,) weight of each body's prior.
    :param s0: (m,) scalars at v = 0, above zero.
    :param G: (m, k) their slopes.
    :param u: (m,) weight of the logarithm.
    :param l: (m,) weight of the linear part.
    """

    A: Array
    b: Array
    p0: Array
    F: Array
    w: Array
    s0: Array
    G: Array
    u: Array
    l: Array  # noqa: E741

    def bodies(self, v: Array) -> Array:
        """(nb, 4, 4) the P_i."""
        return smat(self.p0 + self.F @ v)

    def scalars(self, v: Array) -> Array:
        """(m,) the s_j."""
        return self.s0 + self.G @ v

    def value(self, v: Array, t: float = 1.0) -> float:
        """Return the objective with the prior t times as heavy; infinite outside."""
        s = self.scalars(v)
        if not np.all(s > 0.0):
            return np.inf
        P = self.bodies(v)
        try:
            L = np.linalg.cholesky(P)
        except np.linalg.LinAlgError:
            return np.inf
        diagonal = np.diagonal(L, axis1=1, axis2=2)
        entropy = self.w @ (np.trace(P, axis1=1, axis2=2) - 2.0 * np.log(diagonal).sum(axis=1))
        entropy += self.l @ s - self.u @ np.log(s)
        return float(np.sum((self.A @ v - self.b) ** 2) + t * entropy)

    def prior_slopes(self, v: Array) -> tuple[Array, Array]:
        """Return gradient (k,) and Hessian (k, k) of the prior part."""
        P = self.bodies(v)
        inverse = np.linalg.inv(P)  # 4 x 4, a step's direction only
        nb = len(P)
        kron = np.einsum('nij,nkl->nikjl', inverse, inverse).reshape(nb, SIZE**2, SIZE**2)
        curvature = self.w[:, None, None] * (_FLAT @ kron @ _FLAT.T)
        slope = self.w[:, None] * (_EYE - svec(inverse))
        s = self.scalars(v)
        k = self.A.shape[1]
        flat = self.F.reshape(-1, k)
        gradient = slope.ravel() @ flat + (self.l - self.u / s) @ self.G
        bent = (curvature @ self.F).reshape(-1, k)
        hessian = flat.T @ bent + self.G.T @ ((self.u / s**2)[:, None] * self.G)
        return gradient, hessian

    def stretch(self, v: Array, step: Array) -> float:
        """Return how far one may go along a step before leaving: inf when never."""
        s, ds = self.scalars(v), self.G @ step
        worst = float(np.max(-ds / s, initial=0.0))
        if len(self.p0):
            L = np.linalg.cholesky(self.bodies(v))
            half = np.linalg.solve(L, smat(self.F @ step))
            ratio = np.linalg.solve(L, np.swapaxes(half, 1, 2))
            worst = max(worst, float(np.max(-np.linalg.eigvalsh(ratio)[:, 0])))
        return 1.0 / worst if worst > 0.0 else np.inf

    def triangular(self) -> Program:
        """Return the same problem with A as a triangle, at most k rows."""
        k = self.A.shape[1]
        if len(self.A) <= k:
            return self
        R = np.asarray(sl.qr(np.column_stack([self.A, self.b]), mode='r')[0])[: k + 1]
        return replace(self, A=R[:k, :k], b=R[:k, k])
