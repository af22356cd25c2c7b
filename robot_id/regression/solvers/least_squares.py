"""Least squares on the triangular factor of [W Y]: solution, covariance, rank, condition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError
from robot_id.regression.solvers.triangular import triangle

Array = NDArray[np.float64]
# A column this small beside the largest one holds rounding, not motion.
_SILENT = 1e-9
# A column repeats the others when the part of it outside their span is this small.
_DEPENDENT = 1e-8
Flags = NDArray[np.bool_]


class Constraint(Protocol):
    """A set of parameters to which a solution is confined."""

    def solve(self, R: Array, rows: int, names: Sequence[str], kept: Flags) -> Solution:
        """
        Solve min ||Y - W chi|| within the set.

        :param R: (b + 1, b + 1) factor of [W Y], weights included, full rank in the kept columns.
        :param rows: number r of equations behind it.
        :param names: the b parameter names.
        :param kept: (b,) parameters to solve for, the others are held at zero.
        """
        ...


@dataclass(frozen=True)
class Solution:
    """
    A least-squares solution with its covariance and condition.

    :param chi: (b,) estimates; 0 where a parameter was left out.
    :param covariance: (b, b) sigma^2 (W'W)^-1; NaN rows where a parameter was left out.
    :param kept: (b,) which parameters were solved for.
    :param residual_norm: ||Y - W chi||.
    :param variance: ||Y - W chi||^2 / (r - number of kept parameters).
    :param condition_number: of W with the kept columns.
    :param freedom: r minus the number of kept parameters.
    """

    chi: Array
    covariance: Array
    kept: NDArray[np.bool_]
    residual_norm: float
    variance: float
    condition_number: float
    freedom: int


# Parameters of friction that changes with the temperature.
_WARM = re.compile(r'F[vc]T\d')


@dataclass(frozen=True)
class Deficiency:
    """
    Parameters that the data do not determine.

    :param unexcited: names whose column is zero: nothing in the motion depends on them.
    :param repeated: name of a dependent column with the names it cannot be separated from.
    """

    unexcited: tuple[str, ...] = ()
    repeated: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.unexcited or self.repeated)

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters to leave out so that the rest is unique."""
        return self.unexcited + tuple(name for name, _ in self.repeated)

    def __str__(self) -> str:
        parts = []
        warm = [name for name in self.unexcited if _WARM.match(name)]
        still = [name for name in self.unexcited if name not in warm]
        if still:
            parts.append(f'{_listing(still)} not excited by the motion')
        if warm:
            parts.append(f'{_listing(warm)} not excited: the temperature stays at its reference')
        for name, others in self.repeated[:3]:
            heat = any(_WARM.match(each) for each in (name, *others))
            why = ': the temperature changes too little' if heat else ' on this motion'
            parts.append(f'{name} not identifiable apart from {_listing(others)}{why}')
        if len(self.repeated) > 3:
            parts.append(
                f'nor {_listing([name for name, _ in self.repeated[3:]])} apart from others'
            )
        return '; '.join(parts)


def deficiency(R: Array, names: Sequence[str]) -> Deficiency:
    """
    Find columns of W that are zero or repeat others, by pivoted QR of the column-scaled factor.

    :param R: (b + 1, b + 1) factor of [W Y].
    :param names: the b parameter names.
    """
    W = R[:, :-1]
    norms = np.linalg.norm(W, axis=0)
    loud = np.flatnonzero(norms > _SILENT * norms.max(initial=0.0))
    unexcited = tuple(name for i, name in enumerate(names) if i not in set(loud.tolist()))
    if loud.size == 0:
        return Deficiency(unexcited)
    _, T, order = sl.qr(W[:, loud] / norms[loud], mode='economic', pivoting=True)
    diagonal = np.abs(np.diag(T))
    rank = int(np.sum(diagonal > _DEPENDENT * diagonal[0]))
    repeated = []
    combination = sl.solve_triangular(T[:rank, :rank], T[:rank, rank:])
    for k, column in enumerate(order[rank:]):
        involved = np.abs(combination[:, k]) > 1e-4
        others = tuple(names[loud[i]] for i in np.sort(order[:rank][involved]))
        repeated.append((names[loud[column]], others))
    return Deficiency(unexcited, tuple(repeated))


def solve(
    R: Array,
    rows: int,
    names: Sequence[str],
    kept: NDArray[np.bool_] | None = None,
    constraint: Constraint | None = None,
) -> Solution:
    """
    Solve min ||Y - W chi|| from the factor of [W Y] by triangular solves.

    :param R: (b + 1, b + 1) factor of [W Y], weighted or not.
    :param rows: number r of equations behind it.
    :param names: the b parameter names.
    :param kept: (b,) parameters to solve for, the others are held at zero; all when None.
    :param constraint: solves it instead, within the set that it stands for.
    """
    b = R.shape[1] - 1
    if not np.all(np.isfinite(R)):
        raise IdentificationError(
            'the observation matrix has values that are not finite', code='not_finite'
        )
    kept = np.ones(b, bool) if kept is None else np.asarray(kept, bool)
    p = int(kept.sum())
    if rows <= p:
        raise IdentificationError(
            f'{rows} equations for {p} parameters: record more motion or decimate less',
            code='too_few_equations',
            value=rows,
            bound=p,
        )
    lacking = deficiency(R[:, np.append(kept, True)], [n for n, k in zip(names, kept) if k])
    if lacking:
        raise IdentificationError(
            f'{lacking}: move more joints or remove these parameters',
            code='not_identifiable',
            value=lacking.names,
        )
    if constraint is not None:
        return constraint.solve(R, rows, names, kept)
    T = triangle(R[:, np.append(kept, True)])
    U, z = T[:p, :p], T[:p, p]
    values = sl.solve_triangular(U, z)
    residual = float(np.linalg.norm(T[p:, p]))
    variance = residual**2 / (rows - p)
    inverse = sl.solve_triangular(U, np.eye(p))
    chi = np.zeros(b)
    chi[kept] = values
    covariance = np.full((b, b), np.nan)
    covariance[np.ix_(kept, kept)] = variance * (inverse @ inverse.T)
    return Solution(chi, covariance, kept, residual, variance, condition_number(U), rows - p)


def condition_number(U: Array) -> float:
    """Return the ratio of the largest to the smallest singular value."""
    s = np.linalg.svd(U, compute_uv=False)
    return float(s[0] / s[-1]) if s.size and s[-1] > 0.0 else float('inf')


def _listing(names: Sequence[str], most: int = 12) -> str:
    shown = ', '.join(names[:most])
    return shown if len(names) <= most else f'{shown} and {len(names) - most} more'
