"""
Reversals of a joint: where filters cannot follow the friction, the rows are not valid.

When a joint turns, its friction changes sign within a millisecond or so. The position filter
distorts the velocity there, noise moves its zero, and samples are too coarse: the friction in W is
wrong for a moment. After the low-pass of the rows such a moment becomes an impulse response of
unknown size and, since its time is known to a sample only, of unknown place: each reversal gets
its own columns, the response and (where friction is known to be smooth) its slope, and the part of
W and Y along these columns is removed.

Reversals of one motion and what they leave, for all sets of rows that are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.data.signals.decimation import decimate
from robot_id.data.signals.processing import Processing
from robot_id.regression.preprocessing.rest_band import passed_hz, white_noise
from robot_id.regression.rows.sampling import whole_motion
from robot_id.robot.files.description import Joint
from robot_id.robot.friction.registry import TERMS

Array = NDArray[np.float64]
# Rows of a piece, and an orthonormal basis (r, k) of what its reversals leave in them.
Basis = tuple[slice, Array]
# Columns may take this share of the rows of a joint; a joint that turns more often keeps its rows.
LARGEST_SHARE = 0.25
# Rows on either side that an impulse reaches; offsets between two rows at which it is computed.
REACH, OFFSETS = 30, 32
# Rows to either side between which the slope of a response is taken.
SLOPE_ROWS = 0.3
# Rows that a passage through rest may span.
LONGEST = 6.0
# Rows that are projected together.
LONGEST_PIECE = 2500
# Deviations of its noise that a velocity must exceed for its direction to be known.
DEVIATIONS = 4.0
# Bases are kept up to this size.
LARGEST_MB = 64.0


def acts_at_rest(joint: Joint) -> bool:
    """Whether friction of a joint has terms, such as Stribeck's, that act in these moments."""
    return any(TERMS[term].constant is not None for term in joint.friction)


def reversal_times(run: Run, processing: Processing, slope: float | None) -> list[Array]:
    """
    Return for each joint the times in s at which its friction turns faster than filters resolve.

    That is where it starts, stops or turns: its velocity enters or leaves the band in which its
    direction is not known (the rest band, 2 / alpha, 4 deviations of its noise). Passages that are
    closer than two rows are one event, with a moment for each row that it spans; a longer series
    of them is a rest and is left alone. The velocity is that of the band of the rows: noise that
    these do not hold would choose the moments, and the estimate would follow it. A friction
    2/pi atan(alpha dq) is resolved where it takes longer than a period of the position filter to
    turn, 2 / (alpha |ddq|) > 1 / f.

    :param processing: resolved.
    :param slope: alpha of the friction in W; None for sign(dq).
    """
    passed = passed_hz(run.rate, processing)
    slow = replace(processing, cutoff_hz=passed if processing.cutoff_hz else None)
    _, dq, ddq = whole_motion(run, slow)
    row = (processing.decimation or 1) * run.step
    highest = run.rate / 2.0 if processing.cutoff_hz is None else processing.cutoff_hz
    noise = white_noise([run.position]) * np.sqrt(8.0 / 3.0 * np.pi**2 * passed**3 / run.rate)
    band = np.maximum(DEVIATIONS * noise, 2.0 / slope if slope is not None else 0.0)
    band = np.maximum(band, np.asarray(processing.rest_band or 0.0, float))
    direction = np.where(np.abs(dq) > band, np.sign(dq), 0.0)
    found = []
    for j in range(dq.shape[1]):
        k = np.flatnonzero(np.diff(direction[:, j]))
        if slope is not None:
            k = k[slope * np.abs(ddq[k, j]) > 2.0 * highest]
        found.append(_moments(run.time[k] + 0.5 * run.step, row))
    return found


def _moments(times: Array, row: float) -> Array:
    """Join passages that are closer than two rows, one moment for each row of what they span."""
    if not times.size:
        return times
    groups = np.split(times, np.flatnonzero(np.diff(times) > 2.0 * row) + 1)
    return np.concatenate(
        [
            np.linspace(group[0], group[-1], 2 + int((group[-1] - group[0]) / row))
            if group[-1] - group[0] > 0.5 * row
            else [group.mean()]
            for group in groups
            if group[-1] - group[0] <= LONGEST * row
        ]
        or [np.empty(0)]
    )


def response_bases(
    time: Array, times: Array, processing: Processing, step: float, slopes: bool = True
) -> list[Basis]:
    """
    Return orthonormal bases of what c reversals leave in the r rows of a joint, one for a piece.

    A long run is cut into pieces, so that time and memory grow with its length and not with its
    cube: at most LONGEST_PIECE rows each, cut where the next reversal is far.

    :param time: (r,) s, of the rows.
    :param times: (c,) s, of the reversals.
    :param step: of the samples, s.
    :param slopes: see `response_columns`.
    """
    row = (processing.decimation or 1) * step
    found = []
    for piece in _pieces(time, times):
        at = time[piece]
        near = times[(times > at[0] - REACH * row) & (times < at[-1] + REACH * row)]
        columns = response_columns(at, near, processing, step, slopes)
        basis = _basis(columns)
        if basis.shape[1]:
            found.append((piece, basis))
    return found


def without(rows: Array, bases: Sequence[Basis]) -> tuple[Array, int]:
    """Return (r, C) rows without the part along the bases, and how many columns these have."""
    projected = rows.copy()
    for piece, Q in bases:
        projected[piece] -= Q @ (Q.T @ rows[piece])
    return projected, sum(Q.shape[1] for _, Q in bases)


def _pieces(time: Array, times: Array) -> list[slice]:
    """Return the pieces of a run of (r,) rows, cut where the (c,) reversals are far away."""
    count = -(-len(time) // LONGEST_PIECE)
    if count <= 1:
        return [slice(0, len(time))] if len(time) else []
    away = np.full(len(time), np.inf)
    if times.size:
        after = np.searchsorted(times, time)
        before = times[np.maximum(after - 1, 0)]
        away = np.minimum(
            np.abs(time - before), np.abs(times[after.clip(max=len(times) - 1)] - time)
        )
    share = len(time) // count
    cuts = [0]
    for k in range(1, count):
        low = k * share - share // 8
        cuts.append(low + int(np.argmax(away[low : low + share // 4])))
    return [slice(*both) for both in pairwise([*cuts, len(time)])]


def response_columns(
    time: Array, times: Array, processing: Processing, step: float, slopes: bool = True
) -> Array:
    """
    Return (r, 2 c) the response of rows at r times to an impulse at each of c times, and its
    slope.

    The two of a time stand side by side.

    :param step: of the samples, s.
    :param slopes: the slopes too; else zeros. They take what lies next to a reversal, and are
        worth it where friction is known in this detail: a smooth one that explains the torques.
        With sign(dq), which real gears do not follow near rest, they would only move the weight
        to faster parts of the motion.
    """
    factor = processing.decimation or 1
    if factor == 1 or processing.decimation_filter == 'none':
        lags, values = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    else:
        lags, values = _response(factor)
    apart = (time[:, None] - times) / (factor * step)
    response, earlier, later = (
        np.interp(apart + shift, lags, values, left=0.0, right=0.0)
        for shift in (0.0, -SLOPE_ROWS, SLOPE_ROWS)
    )
    slope = later - earlier if slopes else np.zeros_like(response)
    return np.stack([response, slope], axis=2).reshape(len(time), -1)


@lru_cache(maxsize=32)
def _response(factor: int) -> tuple[Array, Array]:
    """Return lags, in rows, and the response of the row filter to an impulse, largest 1."""
    offsets = np.unique(np.linspace(0, factor - 1, min(factor, OFFSETS)).astype(int))
    impulses = np.zeros(((2 * REACH + 1) * factor, len(offsets)))
    impulses[REACH * factor + offsets, np.arange(len(offsets))] = 1.0
    rows = decimate(impulses, factor)
    lags = np.arange(len(rows))[:, None] - (REACH + offsets / factor)
    order = np.argsort(lags.ravel())
    values = rows.ravel()[order]
    return lags.ravel()[order], values / np.abs(values).max()


def _basis(columns: Array) -> Array:
    """
    Return an orthonormal basis (r, k) of the columns, of none where they take too many rows.

    :param columns: (r, 2 c) responses and slopes; where both take too many rows, the responses.
    """
    for N in (columns, columns[:, ::2]):
        N = N[:, np.abs(N).max(axis=0, initial=0.0) > 0.3]
        if N.shape[1] <= LARGEST_SHARE * len(N):
            break
    else:
        return columns[:, :0]
    if not N.shape[1]:
        return N
    U, s, _ = np.linalg.svd(N, full_matrices=False)
    return np.asarray(U[:, s > 1e-3 * s[0]])


def put_back(residuals: Sequence[Array], taken: NDArray[np.intp]) -> list[Array]:
    """
    Return the residual of each joint as large as it was before its reversals took a part.

    :param taken: (n,) columns that were removed from the rows of each joint.
    """
    return [r * np.sqrt(len(r) / max(len(r) - c, 1)) for r, c in zip(residuals, taken)]


class SharedReversals:
    """
    Finds the reversals of each run once, and the bases of its rows once for rows at equal times.

    A fit makes the same rows many times (a cut-off each, noisier positions): decimation and the
    moments of the reversals are the same in all of them, and so are the bases.

    :param coulomb_slope: alpha of the friction in W; None for sign(dq).
    :ivar fine: friction is known in so much detail that slopes count (see `response_columns`).
    """

    def __init__(self, coulomb_slope: float | None) -> None:
        self.coulomb_slope = coulomb_slope
        self.fine = coulomb_slope is not None
        self._times: dict[int, list[Array]] = {}
        self._bases: dict[tuple[int, int], tuple[Array, list[Basis]]] = {}
        self._bytes = 0

    def bases(
        self, k: int, run: Run, joint: int, time: Array, processing: Processing
    ) -> list[Basis]:
        """
        Return the bases of what the reversals of a joint leave in its (r,) rows at `time`.

        :param k: number of the run.
        :param processing: the same rows in every call.
        """
        if k not in self._times:
            self._times[k] = reversal_times(run, processing, self.coulomb_slope)
        kept = self._bases.get((k, joint))
        if kept is not None and np.array_equal(kept[0], time):
            return kept[1]
        bases = response_bases(time, self._times[k][joint], processing, run.step, self.fine)
        size = time.nbytes + sum(Q.nbytes for _, Q in bases)
        if kept is None and self._bytes + size <= LARGEST_MB * 1e6:
            self._bases[k, joint] = time, bases
            self._bytes += size
        return bases
