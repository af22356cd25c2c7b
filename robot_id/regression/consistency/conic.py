"""
The same problem for Clarabel, an interior-point solver of cones, called directly.

log det P >= t as a cone (Ben-Tal and Nemirovski): a lower triangular Z with
[[P, Z], [Z^T, diag(Z)]] positive semidefinite has det P >= prod Z_ii, and t = sum log Z_ii.
"""

from __future__ import annotations

import importlib.util

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robot_id.regression.consistency.program import Program
from robot_id.regression.consistency.pseudo_inertia import COLUMNS, ROWS, SIZE

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_BIG = 2 * SIZE
_CONE = _BIG * (_BIG + 1) // 2
_Z_ROWS, _Z_COLUMNS = np.tril_indices(SIZE)
_Z = len(_Z_ROWS)
_ON_DIAGONAL = np.flatnonzero(_Z_ROWS == _Z_COLUMNS)


def available() -> bool:
    """Whether Clarabel is installed."""
    return importlib.util.find_spec('clarabel') is not None


def minimise(program: Program) -> Array | None:
    """Return (k,) the minimiser within the tolerance of the solver; None when it gave up."""
    import clarabel

    k, nb, m = program.A.shape[1], len(program.w), len(program.u)
    # Variables: v, then Z (10 a body), log Z_ii (4 a body), log s_j.
    log_z = k + _Z * nb
    log_s = log_z + SIZE * nb
    total = log_s + m
    q = np.zeros(total)
    linear = np.zeros(len(program.y0))
    linear[program.bodies[:, ROWS == COLUMNS]] = program.w[:, None]
    linear += program.l @ _scalar_rows(program)
    q[:k] = -2.0 * program.A.T @ program.b + program.pulled(linear)
    q[log_z:log_s] = np.repeat(-program.w, SIZE)
    q[log_s:] = -program.u
    i, j = np.triu_indices(k)
    P = sp.csc_matrix((2.0 * (program.A.T @ program.A)[i, j], (i, j)), shape=(total, total))
    rows, h = _constraints(program, log_z, log_s, total)
    cones = [clarabel.PSDTriangleConeT(_BIG)] * nb
    cones += [clarabel.ExponentialConeT()] * (SIZE * nb + m)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    found = clarabel.DefaultSolver(P, q, rows, h, cones, settings).solve()
    if str(found.status) not in ('Solved', 'AlmostSolved'):
        return None
    return np.asarray(found.x, float)[:k]


def _place(i: Index, j: Index) -> Index:
    """Return where entry (i, j) with i <= j stands in a triangle taken column by column."""
    return j * (j + 1) // 2 + i


def _constraints(
    program: Program, log_z: int, log_s: int, total: int
) -> tuple[sp.csc_matrix, Array]:
    """Return A and h of the slacks h - A x: an 8 x 8 triangle a body, then (x, 1, z) a log."""
    k, nb, m = program.A.shape[1], len(program.w), len(program.u)
    body = np.arange(nb)[:, None]
    h = np.zeros(_CONE * nb + 3 * (SIZE * nb + m))
    own = _CONE * body + _place(ROWS, COLUMNS)  # (nb, 10) where P stands
    h[own] = program.y0[program.bodies]
    Z = k + _Z * body + np.arange(_Z)
    beside = _CONE * body + _place(_Z_ROWS, SIZE + _Z_COLUMNS)
    corner = SIZE + np.arange(SIZE)
    below = _CONE * body + _place(corner, corner)
    logs = _CONE * nb + 3 * np.arange(SIZE * nb + m)
    h[logs + 1] = 1.0
    h[logs[SIZE * nb :] + 2] = program.scalars(program.y0)
    of_v = np.arange(k)
    of_bodies = np.eye(len(program.y0))[program.bodies]
    entries = [
        (own[..., None], of_v, -program.pulled(of_bodies)),
        (beside, Z, -np.sqrt(2.0)),
        (below, Z[:, _ON_DIAGONAL], -1.0),
        (logs, np.arange(log_z, total), -1.0),
        (logs[: SIZE * nb] + 2, Z[:, _ON_DIAGONAL].ravel(), -1.0),
        (logs[SIZE * nb :, None] + 2, of_v, -program.pulled(_scalar_rows(program))),
    ]
    parts = [[part.ravel() for part in np.broadcast_arrays(*entry)] for entry in entries]
    row, column, value = (np.concatenate(group) for group in zip(*parts))
    kept = value != 0.0
    A = sp.csc_matrix((value[kept], (row[kept], column[kept])), shape=(len(h), total))
    return A, h


def _scalar_rows(program: Program) -> Array:
    """(d + c, s) rows of the scalars on y."""
    return np.vstack([np.eye(len(program.y0))[program.drives], program.slacks])
