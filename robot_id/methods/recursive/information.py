"""The information of the observation window, as square root and as moment sums."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.ud import KERNEL

Array = NDArray[np.float64]


@njit(**KERNEL)
def fold_rows(R: Array, rows: Array, shrink: float) -> None:
    """
    Fold rows into the triangular factor by Givens rotations: R'R <- shrink^2 R'R + rows'rows.

    :param R: (c, c) upper triangular, updated.
    :param rows: (m, c) new rows, destroyed.
    :param shrink: square root of the forgetting factor.
    """
    c = R.shape[0]
    if shrink != 1.0:
        R *= shrink
    for k in range(rows.shape[0]):
        row = rows[k]
        for j in range(c):
            if row[j] == 0.0:
                continue
            norm = np.hypot(R[j, j], row[j])
            cosine = R[j, j] / norm
            sine = row[j] / norm
            for i in range(j, c):
                upper = R[j, i]
                lower = row[i]
                R[j, i] = cosine * upper + sine * lower
                row[i] = cosine * lower - sine * upper


class SquareRootInformation:
    """
    The triangular factor R of [W Y] over the memory: R'R = sum of weighted [W Y]'[W Y].

    Its last diagonal element is the norm of the least-squares residual. A moving window is kept
    as blocks that are dropped whole, never down-dated, so rounding errors cannot build up.

    :param b: number of parameters.
    :param memory: infinite, exponential or window; constant_trace passes its own factor to add.
    """

    def __init__(self, b: int, memory: Memory):
        self.b = b
        self.memory = memory
        self.R = np.zeros((b + 1, b + 1))
        self.rows = 0.0
        self._shrink = float(np.sqrt(memory.forgetting))
        self._blocks: deque[tuple[Array, float]] = deque(maxlen=memory.blocks)
        self._block = np.zeros_like(self.R)
        self._block_rows = 0.0
        self._block_samples = 0

    def add(self, W: Array, y: Array, rows: float, forgetting: float | None = None) -> bool:
        """
        Add one sample.

        :param W: (m, b) rows, weighted.
        :param y: (m,) right-hand side, weighted.
        :param rows: how many of the m rows carry data.
        :param forgetting: overrides the memory's own factor.
        :return: True when old data have just been dropped, so that R has jumped.
        """
        fresh = np.empty((W.shape[0], self.b + 1))
        fresh[:, : self.b] = W
        fresh[:, self.b] = y
        factor = self.memory.forgetting if forgetting is None else forgetting
        shrink = self._shrink if forgetting is None else float(np.sqrt(forgetting))
        self.rows = factor * self.rows + rows
        if self.memory.kind != 'window':
            fold_rows(self.R, fresh, shrink)
            return False
        fold_rows(self._block, fresh.copy(), 1.0)
        fold_rows(self.R, fresh, 1.0)
        self._block_rows += rows
        self._block_samples += 1
        if self._block_samples * self.memory.blocks < self.memory.samples:
            return False
        return self._close_block()

    def _close_block(self) -> bool:
        full = len(self._blocks) == self.memory.blocks
        self._blocks.append((self._block, self._block_rows))
        self._block = np.zeros_like(self.R)
        self._block_rows = 0.0
        self._block_samples = 0
        if full:
            stacked = np.vstack([block for block, _ in self._blocks])
            self.R = np.asarray(np.linalg.qr(stacked, mode='r'))
            self.rows = sum(rows for _, rows in self._blocks)
        return full

    @property
    def factor(self) -> Array:
        """(b, b) upper triangular factor of W'W."""
        return self.R[: self.b, : self.b]

    @property
    def right_side(self) -> Array:
        """(b,) the vector z of min |R x - z|."""
        return self.R[: self.b, self.b]

    @property
    def residual_squared(self) -> float:
        """Squared norm of the least-squares residual."""
        return float(self.R[self.b, self.b] ** 2)

    @property
    def torque_squared(self) -> float:
        """Squared norm of Y."""
        return float(self.R[:, self.b] @ self.R[:, self.b])


class Moments:
    """
    Sums Z'W and Z'Y over the memory (eq. 14 of paper 002).

    :param b: number of parameters.
    :param memory: infinite, exponential or window.
    """

    def __init__(self, b: int, memory: Memory):
        self.memory = memory
        self.sums = np.zeros((b, b + 1))
        self._blocks: deque[Array] = deque(maxlen=memory.blocks)
        self._block = np.zeros_like(self.sums)
        self._block_samples = 0

    def add(self, W: Array, y: Array, Z: Array) -> None:
        """Add the m rows of one sample."""
        fresh = np.empty((W.shape[0], W.shape[1] + 1))
        fresh[:, :-1] = W
        fresh[:, -1] = y
        fresh = Z.T @ fresh
        if self.memory.kind != 'window':
            self.sums *= self.memory.forgetting
            self.sums += fresh
            return
        self.sums += fresh
        self._block += fresh
        self._block_samples += 1
        if self._block_samples * self.memory.blocks < self.memory.samples:
            return
        full = len(self._blocks) == self.memory.blocks
        self._blocks.append(self._block)
        self._block = np.zeros_like(self.sums)
        self._block_samples = 0
        if full:
            self.sums = np.sum(self._blocks, axis=0)
