"""The common part of the sigma-point filters: points z, z +- h s_i, s_i the columns of S."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from robot_id.online.square_root import SquareRootFilter, lower
from robot_id.online.state_model import NotPositive

Array = NDArray[np.float64]
NARROWER = 4.0 ** -np.arange(8.0)


class SigmaPointFilter(SquareRootFilter):
    """
    No Jacobian: the model is evaluated at z and at z +- h s_i, P = S S'.

    The filters differ by h and by how the points make the mean and the root; columns of the
    parameters leave dq and q alone, as S is lower triangular and the parameters come last.
    """

    @property
    @abstractmethod
    def spread(self) -> float:
        """How far the points are, h."""

    @abstractmethod
    def _root(self, f: Array, mean: Array, h: float, noise: Array) -> Array | None:
        """
        Return the predicted root; None where these points have none.

        :param f: (2L + 1, L) the points one step later: the middle one, then + and -.
        """

    def _predict(self, tau: Array, noise: Array) -> bool:
        """
        Advance the mean and the root one step; False when M(q) is lost for good.

        Where a sigma point is no possible robot, the points are drawn closer: the covariance is
        the same, the differences become derivatives, as in the extended filter.
        """
        for h in self.spread * NARROWER:
            try:
                f = self.model.advance_many(self._points(h), tau)
            except NotPositive:
                self.narrowed += h == self.spread
                continue
            mean, root = self._combined(f, h, noise)
            if root is None:
                self.narrowed += h == self.spread
                continue
            self._good = self.z[2 * self.n :].copy()
            self.z, self._S = mean, root
            return True
        return False

    def _combined(self, f: Array, h: float, noise: Array) -> tuple[Array, Array | None]:
        """Return mean and root; points within one deviation give derivatives alone."""
        if h <= 1.0:
            return f[0].copy(), lower(np.hstack([_slopes(f, h), noise]))
        mean = f[0] + (f[1:] - f[0]).sum(axis=0) / (2.0 * h * h)
        return mean, self._root(f, mean, h, noise)

    def _points(self, h: float) -> Array:
        size = self.model.size
        points = np.tile(self.z, (2 * size + 1, 1))
        points[1 : size + 1] += h * self._S.T
        points[size + 1 :] -= h * self._S.T
        return points


def _slopes(f: Array, h: float) -> Array:
    """(L, L) central differences (f_i+ - f_i-) / 2h."""
    size = len(f) // 2
    return (f[1 : size + 1] - f[size + 1 :]).T / (2.0 * h)
