"""
The pseudo-inertia of a body, and symmetric matrices as vectors.

P = [[Sigma, h], [h^T, m]] with Sigma = tr(I)/2 E - I the second moments of the mass, h = m c. A
body with these ten parameters exists when P is positive definite (Wensing, Kim, Slotine 2018).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SIZE = 4
ROWS, COLUMNS = np.triu_indices(SIZE)
# svec: upper triangle with sqrt(2) beside the diagonal, so that <A, B> = svec(A) . svec(B).
_SCALE = np.where(ROWS == COLUMNS, 1.0, np.sqrt(2.0))


def _basis() -> Array:
    """(10, 4, 4) symmetric E_k with P = sum_k svec(P)_k E_k."""
    basis = np.zeros((len(ROWS), SIZE, SIZE))
    for k, (i, j) in enumerate(zip(ROWS, COLUMNS)):
        basis[k, i, j] = basis[k, j, i] = 1.0 / _SCALE[k]
    return basis


BASIS = _basis()


def svec(P: Array) -> Array:
    """(..., 4, 4) -> (..., 10)."""
    return P[..., ROWS, COLUMNS] * _SCALE


def smat(p: Array) -> Array:
    """(..., 10) -> (..., 4, 4)."""
    return (p @ BASIS.reshape(-1, SIZE**2)).reshape(*p.shape[:-1], SIZE, SIZE)


def pseudo_inertia(row: Array) -> Array:
    """(..., 10) [XX XY XZ YY YZ ZZ MX MY MZ M] at the frame's origin -> (..., 4, 4)."""
    row = np.asarray(row, float)
    xx, xy, xz, yy, yz, zz = (row[..., k] for k in range(6))
    P = np.empty((*row.shape[:-1], SIZE, SIZE))
    P[..., 0, 0], P[..., 1, 1], P[..., 2, 2] = (
        (yy + zz - xx) / 2,
        (xx + zz - yy) / 2,
        (xx + yy - zz) / 2,
    )
    P[..., 0, 1] = P[..., 1, 0] = -xy
    P[..., 0, 2] = P[..., 2, 0] = -xz
    P[..., 1, 2] = P[..., 2, 1] = -yz
    P[..., :3, 3] = P[..., 3, :3] = row[..., 6:9]
    P[..., 3, 3] = row[..., 9]
    return P


def inertial_row(P: Array) -> Array:
    """(..., 4, 4) -> (..., 10), the inverse of `pseudo_inertia`."""
    a, b, c = P[..., 0, 0], P[..., 1, 1], P[..., 2, 2]
    tensor = [b + c, -P[..., 0, 1], -P[..., 0, 2], a + c, -P[..., 1, 2], a + b]
    return np.stack([*tensor, *(P[..., k, 3] for k in range(SIZE))], axis=-1)


def congruence(L: Array) -> Array:
    """(..., 4, 4) -> (..., 10, 10): inertial parameters of L Q L^T from svec(Q)."""
    moved = L[..., None, :, :] @ BASIS @ np.swapaxes(L, -1, -2)[..., None, :, :]
    return np.swapaxes(inertial_row(moved), -1, -2)


def smallest_eigenvalues(rows: Array) -> Array:
    """
    (nb, 10) -> (nb,) smallest eigenvalue of each body's pseudo-inertia.

    Lengths are measured in the body's own size sqrt(tr Sigma / m), so that the number compares
    with the mass and does not depend on units.
    """
    P = pseudo_inertia(rows)
    second = np.trace(P[..., :3, :3], axis1=-2, axis2=-1)
    with np.errstate(divide='ignore', invalid='ignore'):
        size = np.sqrt(np.abs(second / P[..., 3, 3]))
    size = np.where(np.isfinite(size) & (size > 0.0), size, 1.0)
    D = np.ones((*size.shape, SIZE))
    D[..., :3] = 1.0 / size[..., None]
    scaled = P * D[..., :, None] * D[..., None, :]
    return np.asarray(np.linalg.eigvalsh(scaled)[..., 0], float)
