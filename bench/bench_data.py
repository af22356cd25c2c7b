"""
The data room's speed, as ratios within one run.

Decimation of many columns against filtering every sample, and reading joint states in bulk
against deserialising them one by one. Run: python bench/bench_data.py
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import Reader
from scipy import signal

from robot_id import data
from robot_id.data.collector import typestore
from robot_id.data.decimation import decimate, stages

REPEATS = 7


def seconds(works: list[Callable[[], object]]) -> list[float]:
    """Return the median time of each, taken in turns so that the machine treats them alike."""
    times: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(REPEATS):
        for work, taken in zip(works, times):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return [float(np.median(taken)) for taken in times]


def every_sample(x: np.ndarray, factor: int) -> np.ndarray:
    """Filter all samples forward and backward and drop most of them."""
    for number in stages(factor):
        sections = signal.cheby1(8, 0.05, 0.8 / number, output='sos')
        x = signal.sosfiltfilt(sections, x, axis=0)[::number]
    return x


def bench_decimation() -> dict[str, float]:
    """Ratio of times, sosfiltfilt to decimate."""
    found = {}
    for columns in (6, 200, 360):
        x = np.random.default_rng(0).normal(size=(50_000, columns))
        for factor in (10, 100):
            ours, theirs = seconds(
                [lambda: decimate(x, factor), lambda: every_sample(x, factor)]  # noqa: B023
            )
            found[f'decimate 50000 x {columns} by {factor}, ratio to sosfiltfilt'] = theirs / ours
    return found


def bench_reading(samples: int = 30_000) -> dict[str, float]:
    """Ratio of times, one by one to in bulk, for a six-joint JointState."""
    rng = np.random.default_rng(0)
    q, tau, dq = rng.normal(size=(3, samples, 6))
    run = data.Run(np.arange(samples) / 1000, q, tau, dq)
    dataset = data.Dataset(tuple(f'joint_{k}' for k in range(1, 7)), (run,))
    with tempfile.TemporaryDirectory() as folder:
        path = data.save(dataset, Path(folder) / 'bag')

        def one_by_one() -> None:
            with Reader(path) as reader:
                for connection, _, raw in reader.messages():
                    typestore().deserialize_cdr(raw, connection.msgtype)

        ours, theirs = seconds([lambda: data.load(path), one_by_one])
    return {
        'load joint states, ratio to one by one': theirs / ours,
        'load joint states, us each': 1e6 * ours / samples,
    }


def main() -> None:
    """Print all figures."""
    for name, value in {**bench_decimation(), **bench_reading()}.items():
        print(f'{name}: {value:.1f}')


if __name__ == '__main__':
    main()
