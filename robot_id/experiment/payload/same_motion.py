"""Two recordings of the same motion, cut to the samples that belong together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.exceptions import DataError

Array = NDArray[np.float64]
# Two motions are the same when their positions differ by less than this share of their spread.
SAME = 0.02
# Of the shorter recording, this much must overlap.
OVERLAP = 0.5


def same_motion(one: Dataset, other: Dataset) -> tuple[Dataset, Dataset]:
    """
    Return both recordings, first runs only, cut so that equal rows are equal instants.

    :raises DataError: when the positions differ, with the joint that differs most.
    """
    a, b = one.runs[0], other.runs[0]
    lag = _lag(a.position, b.position)
    first, last = max(lag, 0), min(len(a), len(b) + lag)
    if last - first < OVERLAP * min(len(a), len(b)):
        raise DataError('the recordings do not overlap in motion: use way c')
    a, b = a.rows(first, last), b.rows(first - lag, last - lag)
    spread = np.maximum(a.position.std(axis=0), 1e-9)
    apart = np.sqrt(np.mean((a.position - b.position) ** 2, axis=0)) / max(spread.max(), 1e-9)
    worst = int(np.argmax(apart))
    if apart[worst] > SAME:
        raise DataError(
            f"the recordings are different motions: joint '{one.joint_names[worst]}' differs by "
            f'{100 * apart[worst]:.3g} % of its spread, way a needs {100 * SAME:g} %: use way c'
        )
    return replace(one, runs=(a,)), replace(other, runs=(_at(b, a.time),))


def _at(run: Run, time: Array) -> Run:
    """Return a run on another clock of the same step."""
    return replace(run, time=time[: len(run)])


def _lag(a: Array, b: Array) -> int:
    """Return by how many samples a is later than b: the peak of their correlation."""
    total = np.zeros(len(a) + len(b) - 1)
    for x, y in zip((a - a.mean(axis=0)).T, (b - b.mean(axis=0)).T):
        total += scipy.signal.correlate(x, y, mode='full', method='fft')
    return int(np.argmax(total)) - (len(b) - 1)
