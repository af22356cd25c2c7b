"""The ten inertial parameters of a load by least squares, where the equations determine them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# A direction weaker than this beside the strongest one holds rounding, not motion.
WEAK = 1e-8


@dataclass(frozen=True)
class LoadFit:
    """
    The solution of y = A p + unit noise, A = U S V' diag(scale).

    :param scale: (10,) norms of the columns of A, 0 where a parameter does not act.
    :param s: (r,) singular values of the determined directions.
    :param Vt: (r, 10) the directions, in parameters times `scale`.
    :param y: (r,) U' y.
    """

    scale: Array
    s: Array
    Vt: Array
    y: Array

    @classmethod
    def of(cls, A: Array, y: Array) -> LoadFit:
        """Fit to equations (m, 10) and (m,)."""
        scale = np.linalg.norm(A, axis=0)
        scaled = A / np.where(scale > 0.0, scale, 1.0)
        U, s, Vt = np.linalg.svd(scaled, full_matrices=False)
        determined = s > WEAK * max(s.max(initial=0.0), 1e-300)
        return cls(scale, s[determined], Vt[determined], U[:, determined].T @ y)

    @property
    def rank(self) -> int:
        """Number of determined directions."""
        return len(self.s)

    @property
    def rows(self) -> Array:
        """(r, 11) [A y], reduced to the determined directions."""
        return np.column_stack([self.s[:, None] * self.Vt * self.scale, self.y])

    def combinations(self, G: Array) -> tuple[Array, Array]:
        """(k,) G p and its deviations for (k, 10) combinations; NaN where not determined."""
        acts = self.scale > 0.0
        scaled = np.where(acts, G / np.where(acts, self.scale, 1.0), 0.0)
        along = scaled @ self.Vt.T
        size = np.linalg.norm(scaled, axis=1)
        # No share in an undetermined direction, nor in a parameter that does not act.
        known = np.abs(np.linalg.norm(along, axis=1) - size) <= 1e-6 * size
        known &= (size > 0.0) & ~np.any(G[:, ~acts] != 0.0, axis=1)
        spread = along / self.s
        return (
            np.where(known, spread @ self.y, np.nan),
            np.where(known, np.linalg.norm(spread, axis=1), np.nan),
        )
