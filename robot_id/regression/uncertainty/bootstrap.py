"""
Covariance of an estimate by the moving-block bootstrap: no formula for the residual is needed.

Blocks of successive rows, all joints together, are drawn with replacement until there are as many
rows as before, and the estimate is found again from them; how these estimates scatter is the
covariance. Within a block the residual keeps its correlation in time and between the joints, and
rows that are noisier than others stay so (Kuensch 1989; Liu and Singh 1992).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Estimates that are made, and the seed of the draws: the same data give the same deviations.
REPLICATES, SEED = 400, 0
# Rows of a block for the cube root of the rows of a recording.
BLOCK_PER_ROOT = 1.5
# Blocks to draw from; those of longer recordings begin at every second row, or third ...
LARGEST_BLOCKS = 2000


def bootstrap_covariance(
    Z: Sequence[Array], W: Sequence[Array], residual: Sequence[Array]
) -> Array:
    """
    Return the (p, p) covariance of (Z'W)^-1 Z' rho.

    :param Z: for each run (M, n, p) orthonormal rows, zero where a row is left out.
    :param W: likewise, the rows of the model in the same coordinates; Z for least squares.
    :param residual: for each run (M, n), zero where a row is left out.
    """
    rng = np.random.default_rng(SEED)
    rows, p = sum(len(part) for part in residual), Z[0].shape[2]
    length = int(np.clip(np.ceil(BLOCK_PER_ROOT * np.cbrt(rows)), 2, max(rows // 4, 2)))
    stride = -(-rows // LARGEST_BLOCKS)
    blocks = [
        _sums(z[low : low + length], w[low : low + length], rho[low : low + length])
        for z, w, rho in zip(Z, W, residual)
        for low in range(0, max(len(rho) - length, 0) + 1, stride)
    ]
    A, s = (np.array(part) for part in zip(*blocks))
    found = []
    for _ in range(REPLICATES):
        drawn = rng.integers(len(blocks), size=-(-rows // length))
        counts = np.bincount(drawn, minlength=len(blocks)).astype(float)
        found.append(np.linalg.solve(np.tensordot(counts, A, 1), counts @ s))
    return np.atleast_2d(np.cov(np.array(found), rowvar=False)).reshape(p, p)


def _sums(z: Array, w: Array, rho: Array) -> tuple[Array, Array]:
    """Return Z'W and Z' rho of one block; rows are orthonormal, so Z'W is near a multiple of I."""
    flat = z.reshape(-1, z.shape[2])
    return flat.T @ w.reshape(flat.shape), flat.T @ rho.ravel()
