"""
One walk through a data set: states at the measured rate in, decimated rows out, in chunks.

`decimated` is the one way from samples to the rows of W and Y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals.decimation import Decimator
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing, dropped, end_rows, usable
from robot_id.data.signals.torque_delay import torque_at_samples
from robot_id.exceptions import DataError
from robot_id.progress import Progress, silent

Array = NDArray[np.float64]
# Samples at a time: the regressor of a six-axis arm then takes some 25 MB.
CHUNK = 8192


def decimated(
    block: Callable[[int, int], Array],
    first: int,
    last: int,
    factor: int = 1,
    filtered: bool = True,
    chunk: int = CHUNK,
) -> Iterator[tuple[Array, int]]:
    """
    Yield rows first, first + factor, ... of columns that are computed from samples.

    The rows do not depend on the chunk, and the columns are never held whole. They are equations:
    the ends are mirrored, so that no row hangs on the noise of a single sample.

    :param block: gives the (high - low, C) columns of samples low to high.
    :param first: first sample, last: one past the last one.
    :param factor: n_d, one row in n_d is kept.
    :param filtered: low-pass all columns alike before (see `data.signals.decimation`).
    :return: rows, and the sample up to which the columns were computed.
    """
    decimator = Decimator(factor, even=True) if filtered and factor > 1 else None
    for low in range(first, last, chunk):
        high = min(low + chunk, last)
        values = block(low, high)
        if decimator is None:
            yield values[-(low - first) % factor :: factor], high
            continue
        rows = decimator.push(values)
        if high == last:
            rows = np.concatenate([rows, decimator.finish()])
        yield rows, high


@dataclass(frozen=True)
class States:
    """
    Filtered motion and measured torques of successive samples.

    :param q: (N, n) positions.
    :param dq: (N, n) velocities.
    :param ddq: (N, n) accelerations.
    :param torque: (N, n) torques.
    :param temperature: (N, n) temperatures of the joints, degrees Celsius, or None.
    """

    q: Array
    dq: Array
    ddq: Array
    torque: Array
    temperature: Array | None = None

    def part(self, low: int, high: int) -> States:
        """Return samples low to high."""
        return States(*(x[low:high] for x in (self.q, self.dq, self.ddq, self.torque)))


@dataclass(frozen=True)
class Rows:
    """
    Decimated rows.

    :param run: index of the run they come from.
    :param time: (M,) seconds.
    :param values: (M, C) decimated columns.
    :param used: (M, n) samples of each joint that the rest band leaves in.
    """

    run: int
    time: Array
    values: Array
    used: NDArray[np.bool_]


def join(parts: Sequence[Rows]) -> Rows:
    """Return the rows of one run that came in pieces."""
    whole = [
        np.concatenate([getattr(p, key) for p in parts]) for key in ('time', 'values', 'used')
    ]
    return Rows(parts[0].run, *whole)


def long_enough(dataset: Dataset, processing: Processing) -> tuple[list[int], tuple[str, ...]]:
    """
    Return the runs that leave samples between their borders, and a warning about the others.

    When none does, the reason for the longest one is raised.
    """
    indices, short = [], []
    for k, run in enumerate(dataset.runs):
        try:
            usable(run, processing)
            indices.append(k)
        except DataError:
            short.append(k)
    if not indices:
        usable(max(dataset.runs, key=len), processing)
    if not short:
        return indices, ()
    lost = sum(dataset.runs[k].duration for k in short)
    return indices, (
        f'{len(short)} of {len(dataset.runs)} runs are too short for the filters and are left '
        f'out ({lost:.3g} s of {sum(run.duration for run in dataset.runs):.3g} s)',
    )


def whole_motion(
    run: Run, processing: Processing, chunk: int = CHUNK
) -> tuple[Array, Array, Array]:
    """
    Return q, dq, ddq of all samples of a run, (N, n) each, borders included.

    They come in the pieces in which `walk` filters the run, so that nothing is filtered twice.
    """
    border, N = processing.border or 0, len(run)
    cuts = [0, *range(border + chunk, N - border, chunk), N]
    q, dq, ddq = np.empty((3, *run.position.shape))
    for low, high in pairwise(cuts):
        q[low:high], dq[low:high], ddq[low:high] = differentiate(run, processing, (low, high))
    return q, dq, ddq


def walk(
    dataset: Dataset,
    processing: Processing,
    columns: Callable[[States], Array],
    progress: Progress = silent,
    chunk: int = CHUNK,
    keep: bool = True,
) -> Iterator[Rows]:
    """
    Yield decimated rows of columns that are computed from the states.

    Neither filters nor decimation cross the border of a run, and the rows do not depend on the
    chunk. Runs that are too short for the filters are skipped (see `long_enough`).

    :param dataset: the measurements.
    :param processing: resolved for them.
    :param columns: gives (N, C) columns of N states.
    :param progress: called with the fraction of the samples done.
    :param chunk: samples at a time.
    :param keep: keep the filtered motion with the data, for the next walk.
    """
    indices, _ = long_enough(dataset, processing)
    total, done = sum(len(dataset.runs[k]) for k in indices), 0
    for k in indices:
        run = dataset.runs[k]
        for rows, samples in _walk_run(k, run, processing, columns, chunk, keep):
            yield rows
            progress(min((done + samples) / total, 1.0))
        done += len(run)


def _walk_run(
    k: int,
    run: Run,
    processing: Processing,
    columns: Callable[[States], Array],
    chunk: int,
    keep: bool,
) -> Iterator[tuple[Rows, int]]:
    first, last = usable(run, processing)
    factor = processing.decimation or 1
    n, done = run.position.shape[1], 0
    ends, count = end_rows(processing), -(-(last - first) // factor)

    def block(low: int, high: int) -> Array:
        q, dq, ddq = differentiate(run, processing, (low, high), keep)
        torque = torque_at_samples(run, processing, low, high)
        warmth = None if run.temperature is None else run.temperature[low:high]
        wide = columns(States(q, dq, ddq, torque, warmth))
        values = np.concatenate([wide, dq], axis=1)
        if not np.all(np.isfinite(values)):
            raise DataError(
                f'run {k + 1} has values that are not finite between {run.time[low]:.3f} s and '
                f'{run.time[high - 1]:.3f} s'
            )
        return values

    filtered = processing.decimation_filter != 'none'
    for values, high in decimated(block, first, last, factor, filtered, chunk):
        # Rows near the ends of the run are dropped (see end_rows).
        low_end, high_end = max(ends - done, 0), min(count - ends - done, values.shape[0])
        at = first + factor * np.arange(done + low_end, done + high_end)
        done += values.shape[0]
        values = values[low_end : max(high_end, 0)]
        if values.shape[0]:
            used = ~dropped(values[:, -n:], processing.rest_band)
            yield Rows(k, run.time[at], values[:, :-n], used), high
