"""Velocities and accelerations from sampled positions, without phase shift."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cache import Kept
from robot_id.data.dataset import Run
from robot_id.data.signals import filters
from robot_id.data.signals.processing import Processing, resolve
from robot_id.exceptions import DataError, OptionError

Array = NDArray[np.float64]


# Weights of samples 1, 2 and 3 steps away: exact for polynomials up to degree 6.
_FIRST = np.array([45.0, -9.0, 1.0]) / 60.0
_SECOND = np.array([270.0, -27.0, 2.0]) / 180.0


def central_differences(q: Array, step: float, smooth: bool = False) -> tuple[Array, Array]:
    """
    Return first and second derivatives along axis 0.

    dq[k] = (q[k+1] - q[k-1]) / (2 h) and ddq[k] = (q[k+1] - 2 q[k] + q[k-1]) / h^2; at the two
    ends the differences of second order to one side.

    These lose (w h)^2 / 6 of a velocity, 0.1 % of a 2.5 Hz motion at 200 Hz, which is more than
    the noise of a good recording. Smooth positions allow differences of sixth order over seven
    samples, which lose (w h)^6 / 140 but would amplify unfiltered noise.

    :param q: (N, ...) samples, N >= 4.
    :param step: h in seconds.
    :param smooth: the positions are filtered: differences of sixth order.
    """
    dq = np.empty_like(q)
    dq[1:-1] = (q[2:] - q[:-2]) / (2 * step)
    dq[0] = (-3 * q[0] + 4 * q[1] - q[2]) / (2 * step)
    dq[-1] = (3 * q[-1] - 4 * q[-2] + q[-3]) / (2 * step)
    ddq = np.empty_like(q)
    ddq[1:-1] = ((q[2:] - q[1:-1]) - (q[1:-1] - q[:-2])) / step**2
    ddq[0] = (2 * q[0] - 5 * q[1] + 4 * q[2] - q[3]) / step**2
    ddq[-1] = (2 * q[-1] - 5 * q[-2] + 4 * q[-3] - q[-4]) / step**2
    N = len(q)
    if smooth and N > 6:
        inner, centre = slice(3, -3), q[3:-3]
        dq[inner], ddq[inner] = 0.0, 0.0
        for k, first, second in zip((1, 2, 3), _FIRST, _SECOND):
            after, before = q[3 + k : N - 3 + k], q[3 - k : N - 3 - k]
            dq[inner] += first / step * (after - before)
            # Differences to the sample itself, so that large positions lose no digits.
            ddq[inner] += second / step**2 * ((after - centre) - (centre - before))
    return dq, ddq


def differentiate(
    run: Run, processing: Processing, rows: tuple[int, int] | None = None, keep: bool = True
) -> tuple[Array, Array, Array]:
    """
    Return the filtered positions and their derivatives, (N, n) each.

    They are kept with the run: each piece of it is filtered once for each cut-off.

    :param run: the measured positions.
    :param processing: resolved options; the run's own rate serves where they are not resolved.
    :param rows: first and last (exclusive) sample wanted; the filter sees as much around them as
        it needs, so the result is that of the whole run within rounding. None means all.
    :param keep: False for data that do not fit into memory: nothing is kept.
    """
    N = len(run)
    if N < 4:
        raise DataError(
            f'a run of {N} samples is too short for central differences', code='too_short'
        )
    first, last = (0, N) if rows is None else rows
    if not 0 <= first < last <= N:
        raise OptionError(
            f'rows {first} to {last} are not within the {N} samples of the run',
            code='rows_outside',
        )
    if processing.cutoff_hz is None and processing.filter != 'none':
        processing = resolve(processing, run.rate)
    low, high = _window(processing, run.rate, N, first, last)
    key = ('motion', processing.filter, processing.order, processing.cutoff_hz, low, high)
    kept = run.kept if keep else Kept(0)
    q, dq, ddq = kept.get(key, lambda: _motion(run, processing, low, high))
    cut = slice(first - low, last - low)
    return np.ascontiguousarray(q[cut]), dq[cut], ddq[cut]


def _motion(run: Run, processing: Processing, low: int, high: int) -> tuple[Array, Array, Array]:
    """Return the filtered positions and their derivatives of samples low to high alone."""
    q = run.position[low:high]
    if processing.filter != 'none':
        assert processing.cutoff_hz is not None
        apply = filters.zero_phase if processing.filter == 'butterworth' else filters.forward
        q = apply(q, processing.order, processing.cutoff_hz, run.rate)
    return q, *central_differences(q, run.step, smooth=processing.filter != 'none')


def _window(processing: Processing, rate: float, N: int, first: int, last: int) -> tuple[int, int]:
    """Return the samples that the wanted ones depend on, none beyond the ends of the run."""
    reach = 4
    if processing.filter != 'none' and processing.cutoff_hz is not None:
        reach += 2 * filters.settling(processing.order, processing.cutoff_hz, rate)
    low, high = max(first - reach, 0), min(last + reach, N)
    # A window that reaches an end of the run must extend it there just as the whole run does.
    if high == N:
        low = min(low, max(N - 2 * reach, 0))
    if low == 0:
        high = max(high, min(2 * reach, N))
    return low, high
