"""
Identifiability supervision (paper 002, section 3.2): which parameters may move now.

Both rules look at the triangular factor R of the observation window in scaled coordinates, where
every parameter has the size 1 and every equation the same weight. A direction may move when its
standard deviation is below `max_std`, a fraction of the parameter's size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from robot_id.exceptions import OptionError

Array = NDArray[np.float64]
LIVE, PARTIAL, FROZEN = 'live', 'partial', 'frozen'


@dataclass(frozen=True)
class Verdict:
    """
    Which directions of the parameter space may move.

    :param columns: (k,) indices of the parameters that take part.
    :param basis: (k, l) orthonormal directions within these columns; None when all k are free.
    :param state: live, partial or frozen for each of the b parameters.
    :param reason: one line for each parameter, empty when live.
    :param condition: condition number of the information matrix that is left (NaN: not known).
    :param suspended: True when identification as a whole is held.
    """

    columns: NDArray[np.intp]
    basis: Array | None
    state: tuple[str, ...]
    reason: tuple[str, ...]
    condition: float = float('nan')
    suspended: bool = False

    @property
    def live(self) -> NDArray[np.bool_]:
        """(b,) True for parameters that are known on their own."""
        return np.array([state == LIVE for state in self.state])


class Rule(Protocol):
    """Judge the window; `live` are the flags of the last verdict."""

    def judge(
        self, R: Array, variance: float, names: tuple[str, ...], live: NDArray[np.bool_]
    ) -> Verdict: ...


def nothing(b: int, reason: str, suspended: bool = True, condition: float = np.nan) -> Verdict:
    """Return the verdict that holds every parameter."""
    return Verdict(np.empty(0, np.intp), None, (FROZEN,) * b, (reason,) * b, condition, suspended)


def _check_max_std(max_std: float) -> None:
    if not max_std > 0:
        raise OptionError(f'supervision: max_std = {max_std}, must be positive (0.1 = 10 %)')


def _not_excited(std: float, bound: float) -> str:
    if not np.isfinite(std):
        return 'not excited: its model function is zero'
    return (
        f'not excited: standard deviation {100 * std:.3g} % of its size, bound {100 * bound:g} %'
    )


@dataclass
class EigenvalueRule:
    """
    Eq. 20 to 23: move only along eigenvectors with lambda > sigma_e^2 / sigma_max^2.

    The eigenvalues are squared singular values of R. A parameter whose own column is already too
    short for the bound is taken out first (the smallest eigenvalue cannot exceed a diagonal
    element), so that it holds its value exactly instead of following a slightly turned
    eigenvector. Cost: one singular value decomposition, of the order of 9 b^3.

    :param max_std: sigma_max as a fraction of each parameter's size.
    """

    max_std: float = 0.1

    def __post_init__(self) -> None:
        _check_max_std(self.max_std)

    def judge(
        self, R: Array, variance: float, names: tuple[str, ...], live: NDArray[np.bool_]
    ) -> Verdict:
        """Decompose the window's information matrix."""
        b = R.shape[1]
        bound = np.sqrt(variance) / self.max_std
        norms = np.sqrt(np.einsum('ij,ij->j', R, R))
        bound = max(bound, 1e-12 * float(norms.max(initial=0.0)))
        columns = np.flatnonzero(norms > bound)
        state, reason = [FROZEN] * b, [''] * b
        with np.errstate(divide='ignore'):
            stds = np.sqrt(variance) / norms
        for i in range(b):
            reason[i] = _not_excited(stds[i], self.max_std)
        if columns.size == 0:
            return nothing(b, 'not excited: no direction is identifiable')
        _, s, Vt = np.linalg.svd(R[:, columns], full_matrices=False)
        keep = s > bound
        kept = s[keep]
        condition = float((kept[0] / kept[-1]) ** 2) if kept.size else float('nan')
        if kept.size == 0:
            return nothing(b, 'not excited: no direction is identifiable', True, condition)
        share = np.einsum('ij,ij->j', Vt[keep], Vt[keep])
        dead = Vt[~keep]
        for i, column in enumerate(columns):
            if share[i] > 0.99:
                state[column], reason[column] = LIVE, ''
                continue
            state[column] = PARTIAL
            worst = dead[np.argmax(np.abs(dead[:, i]))]
            partners = [
                names[columns[k]]
                for k in np.argsort(-np.abs(worst))
                if k != i and abs(worst[k]) > 0.05
            ][:3]
            reason[column] = 'only known together with ' + (', '.join(partners) or 'others')
        basis = None if keep.all() else np.ascontiguousarray(Vt[keep].T)
        return Verdict(columns, basis, tuple(state), tuple(reason), condition)


@dataclass
class CheapRule:
    """
    Column norms, pairwise angles, then trace and condition number of what is left.

    A parameter is excluded when its column is too short, or when its model function is nearly
    proportional to another one: of the two, the one with the larger off-diagonal elements of the
    normalised matrix, and where these are alike, the one that matters less (the shorter column);
    one that is live already stays. When the information matrix that is left has too large a
    condition number, there is a dependency of more than two functions and identification is held
    as a whole. Angles are those between the model functions, cos = A_ij / sqrt(A_ii A_jj), b^2
    operations; the condition number (1-norm) comes from a Cholesky factor. A frozen parameter
    must pass the bounds with a margin before it is released, so that it does not flicker.

    :param max_std: as in the eigenvalue rule.
    :param min_angle_deg: smallest angle between two model functions.
    :param max_condition: largest condition number of the information matrix.
    :param margin: factor on the bounds for a parameter that is frozen now.
    """

    max_std: float = 0.1
    min_angle_deg: float = 2.0
    max_condition: float = 1e8
    margin: float = 1.25
    trace: float = field(default=float('nan'), init=False)

    def __post_init__(self) -> None:
        _check_max_std(self.max_std)
        if not 0 < self.min_angle_deg < 90:
            raise OptionError(f'supervision: min_angle_deg = {self.min_angle_deg}, not in (0, 90)')
        if not self.max_condition > 1:
            raise OptionError(f'supervision: max_condition = {self.max_condition}, must exceed 1')
        if not self.margin >= 1:
            raise OptionError(f'supervision: margin = {self.margin}, must be at least 1')

    def judge(
        self, R: Array, variance: float, names: tuple[str, ...], live: NDArray[np.bool_]
    ) -> Verdict:
        """Test columns, pairs and the rest."""
        b = R.shape[1]
        A = R.T @ R
        norms = np.sqrt(np.diag(A))
        bound = max(np.sqrt(variance) / self.max_std, 1e-12 * float(norms.max(initial=0.0)))
        free = norms > np.where(live, bound, self.margin * bound)
        reason = [''] * b
        with np.errstate(divide='ignore'):
            stds = np.sqrt(variance) / norms
        for i in np.flatnonzero(~free):
            reason[i] = _not_excited(stds[i], self.max_std)
        self._drop_parallel(A, norms, free, live, names, reason)
        columns = np.flatnonzero(free)
        self.trace = float(np.trace(A[np.ix_(columns, columns)]))
        if columns.size == 0 or self.trace <= bound**2:
            return nothing(b, 'not excited: no parameter is identifiable')
        condition = _condition(A[np.ix_(columns, columns)])
        limit = self.max_condition / (1.0 if live.any() else self.margin)
        if condition > limit:
            text = f'all held: condition number {condition:.3g} over {self.max_condition:g}'
            return nothing(b, text, True, condition)
        state = tuple(LIVE if free[i] else FROZEN for i in range(b))
        return Verdict(columns, None, state, tuple(reason), condition)

    def _drop_parallel(
        self,
        A: Array,
        norms: Array,
        free: NDArray[np.bool_],
        live: NDArray[np.bool_],
        names: tuple[str, ...],
        reason: list[str],
    ) -> None:
        columns = np.flatnonzero(free)
        C = np.abs(A[np.ix_(columns, columns)]) / np.outer(norms[columns], norms[columns])
        np.fill_diagonal(C, 0.0)
        both = live[columns]
        angle = np.where(np.logical_and.outer(both, both), 1.0, self.margin) * self.min_angle_deg
        too_close = np.cos(np.radians(angle)) < C
        weight = C.sum(axis=0)
        length = norms[columns]
        while too_close.any():
            i, j = np.unravel_index(np.argmax(np.where(too_close, C, -1.0)), C.shape)
            if both[i] != both[j]:
                drop, stay = (j, i) if both[i] else (i, j)
            elif abs(weight[i] - weight[j]) > 0.05 * weight[i]:
                drop, stay = (i, j) if weight[i] > weight[j] else (j, i)
            else:
                drop, stay = (i, j) if length[i] < length[j] else (j, i)
            degrees = np.degrees(np.arccos(min(C[i, j], 1.0)))
            reason[columns[drop]] = (
                f'its model function is nearly proportional to that of {names[columns[stay]]} '
                f'(angle {degrees:.2g} deg, bound {self.min_angle_deg:g})'
            )
            free[columns[drop]] = False
            too_close[drop, :] = False
            too_close[:, drop] = False


def _condition(A: Array) -> float:
    """Return an estimate of the 1-norm condition number of a positive definite matrix."""
    factor, info = lapack.dpotrf(A)
    if info != 0:
        return float('inf')
    rcond, _ = lapack.dpocon(factor, np.abs(A).sum(axis=0).max())
    return 1.0 / rcond if rcond > 0 else float('inf')
