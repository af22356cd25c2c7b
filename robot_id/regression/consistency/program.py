"""
The problem that both solvers solve: least squares with the entropic distance to a prior.

min ||A v - b||^2 + sum_i w_i (tr P_i - log det P_i) + sum_j (l_j s_j - u_j log s_j)

y = y0 + N v holds all parameters in units of their prior: ten of y are the pseudo-inertia P_i of
body i (svec, the identity at the prior), others are drive parameters s_j, above zero, and slacks
s_j of bounds are rows of y. The distance tr P - log det P - 4 is zero at the prior and grows
without end towards a body that does not exist: the minimum is unique and strictly inside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.consistency.pseudo_inertia import BASIS, SIZE, smat, svec
from robot_id.regression.solvers.triangular import triangle

Array = NDArray[np.float64]
Index = NDArray[np.int64]
_FLAT = BASIS.reshape(len(BASIS), -1)
_EYE = svec(np.eye(SIZE))


@dataclass(frozen=True)
class Program:
    """
    One problem in k variables v, whose start v = 0 is strictly inside.

    :param A: (r, k) and b (r,): the data, in units of their deviation.
    :param y0: (s,) the start.
    :param N: (s, k) orthonormal; None for the identity.
    :param bodies: (nb, 10) places in y.
    :param w: (nb,) weight of each body's prior.
    :param drives: (d,) places in y of what stays above zero.
    :param slacks: (c, s) rows and offset (c,): slacks @ y + offset stays above zero too.
    :param u: (d + c,) weight of the logarithm.
    :param l: (d + c,) weight of the linear part.
    """

    A: Array
    b: Array
    y0: Array
    N: Array | None
    bodies: Index
    w: Array
    drives: Index
    slacks: Array
    offset: Array
    u: Array
    l: Array

    def y(self, v: Array) -> Array:
        """(s,) the parameters."""
        return self.y0 + (v if self.N is None else self.N @ v)

    def pulled(self, rows: Array) -> Array:
        """(m, s) rows on y -> (m, k) rows on v."""
        return rows if self.N is None else rows @ self.N

    def scalars(self, y: Array) -> Array:
        """(d + c,) the s_j."""
        return np.concatenate([y[self.drives], self.slacks @ y + self.offset])

    def value(self, v: Array, t: float = 1.0) -> float:
        """Return the objective with the prior t times as heavy; infinite outside."""
        y = self.y(v)
        s = self.scalars(y)
        if len(s) and s.min() <= 0.0:
            return np.inf
        p = y[self.bodies]
        try:
            L = np.linalg.cholesky(smat(p))
        except np.linalg.LinAlgError:
            return np.inf
        logs = np.log(L[:, range(SIZE), range(SIZE)]).sum(axis=1)
        entropy = self.w @ (p @ _EYE - 2.0 * logs) + self.l @ s - self.u @ np.log(s)
        rho = self.A @ v - self.b
        return float(rho @ rho + t * entropy)

    def prior_slopes(self, v: Array) -> tuple[Array, Array]:
        """Return gradient (k,) and Hessian (k, k) of the prior part."""
        y = self.y(v)
        # No system is solved here: P^-1 (4 x 4) itself is the gradient of log det P.
        inverse: Array = np.asarray(np.linalg.inv(smat(y[self.bodies])), float)
        # d2 log det P = -tr(P^-1 E_a P^-1 E_b)
        turned = (inverse[:, None] @ BASIS @ inverse[:, None]).reshape(len(inverse), -1, SIZE**2)
        s = self.scalars(y)
        d = len(self.drives)
        gradient, hessian = np.zeros(len(y)), np.zeros((len(y), len(y)))
        gradient[self.bodies] = self.w[:, None] * (_EYE - svec(inverse))
        hessian[self.bodies[:, :, None], self.bodies[:, None, :]] = self.w[:, None, None] * (
            turned @ _FLAT.T
        )
        slope, bend = self.l - self.u / s, self.u / s**2
        gradient[self.drives] = slope[:d]
        hessian[self.drives, self.drives] = bend[:d]
        if len(self.slacks):
            gradient += slope[d:] @ self.slacks
            hessian += self.slacks.T @ (bend[d:, None] * self.slacks)
        if self.N is None:
            return gradient, hessian
        return gradient @ self.N, self.N.T @ hessian @ self.N

    def triangular(self) -> Program:
        """Return the same problem with A as a triangle, at most k rows."""
        k = self.A.shape[1]
        if len(self.A) <= k:
            return self
        R = triangle(np.column_stack([self.A, self.b]))
        return replace(self, A=R[:k, :k], b=R[:k, k])
