"""Two recordings of the same motion, cut to the samples that belong together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from robot_id.data.cleaning.resampling import interpolate
from robot_id.data.dataset import Dataset, Run
from robot_id.exceptions import DataError

Array = NDArray[np.float64]
# Two motions are the same when their positions differ by less than this share of their spread.
SAME = 0.02
# Of the shorter recording, this much must overlap.
OVERLAP = 0.5


def same_motion(one: Dataset, other: Dataset) -> tuple[Dataset, Dataset]:
    """
    Return both recordings, longest runs only, cut so that equal rows are equal instants.

    :raises DataError: when the positions differ, with the joint that differs most.
    """
    longest = [max(data.runs, key=len) for data in (one, other)]
    rate = max(run.rate for run in longest)
    a, b = (_with_rate(run, rate) for run in longest)
    lag = _lag(a.position, b.position)
    first, last = max(lag, 0), min(len(a), len(b) + lag)
    a, b = a.rows(first, last), b.rows(first - lag, last - lag)
    spread = np.maximum(a.position.std(axis=0), 1e-9)
    apart = np.sqrt(np.mean((a.position - b.position) ** 2, axis=0)) / max(spread.max(), 1e-9)
    worst = int(np.argmax(apart))
    if apart[worst] > SAME:
        raise DataError(
            f"the recordings are different motions: joint '{one.joint_names[worst]}' differs by "
            f'{100 * apart[worst]:.3g} % of its spread, strategy subtract needs {100 * SAME:g} %: '
            'use strategy joint',
            joint=one.joint_names[worst],
        )
    return replace(one, runs=(a,)), replace(other, runs=(_at(b, a.time),))


def _with_rate(run: Run, rate: float) -> Run:
    """Return a run at another rate; one that stays within a tenth of a step is left as it is."""
    count = int(run.duration * rate) + 1
    if abs(run.rate / rate - 1.0) * count < 0.1:
        return run
    time = run.time[0] + np.arange(count) / rate
    return run.changed(time, lambda _, values: interpolate(run.time, values, time, cubic=True))


def _at(run: Run, time: Array) -> Run:
    """Return a run on another clock of the same step."""
    return replace(run, time=time[: len(run)])


def _lag(a: Array, b: Array) -> int:
    """
    Return by how many samples a is later than b: where their mean square difference is least.

    Not the peak of their correlation, which a part of a motion has elsewhere. Of the shorter one
    OVERLAP must lie on the other.
    """
    N, M = len(a), len(b)
    lags = np.arange(-(M - 1), N)
    first, last = np.maximum(lags, 0), np.minimum(N, M + lags)
    a, b = a - a.mean(axis=0), b - a.mean(axis=0)
    squares = np.zeros(len(lags))
    for x, y in zip(a.T, b.T):
        X, Y = (np.concatenate([[0.0], np.cumsum(z**2)]) for z in (x, y))
        squares += X[last] - X[first] + Y[last - lags] - Y[first - lags]
        squares -= 2.0 * scipy.signal.correlate(x, y, mode='full', method='fft')
    count = last - first
    enough = count >= OVERLAP * min(N, M)
    return int(lags[np.argmin(np.where(enough, squares / count, np.inf))])
