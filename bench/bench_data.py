"""
The data room's speed, as ratios within one run.

Decimation of many columns against filtering every sample, and reading joint states in bulk
against deserialising them one by one.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import Reader
from scipy import signal

from bench.figure import Figure, in_turns
from robot_id import data
from robot_id.data.signals.decimation import decimate, stages
from tools.running.typestore import typestore

ROWS = 50_000


def every_sample(x: np.ndarray, factor: int) -> np.ndarray:
    """Filter all samples forward and backward and drop most of them."""
    for number in stages(factor):
        sections = signal.cheby1(8, 0.05, 0.8 / number, output='sos')
        x = signal.sosfiltfilt(sections, x, axis=0)[::number]
    return x


def bench_decimation() -> list[Figure]:
    """Many columns at once: only the samples that are kept are computed."""
    figures = []
    for columns in (6, 360):
        x = np.random.default_rng(0).normal(size=(ROWS, columns))
        for factor in (10, 100):
            seconds = in_turns(
                {
                    'ours': lambda x=x, n=factor: decimate(x, n),
                    'filter': lambda x=x, n=factor: every_sample(x, n),
                },
                repeats=3,
            )
            figures.append(
                Figure(
                    f'decimate {columns} columns by {factor}',
                    1e6 * seconds['ours'] / ROWS,
                    'us/sample',
                    'sosfiltfilt of all samples',
                    seconds['filter'] / seconds['ours'],
                )
            )
    return figures


def bench_reading(samples: int = 30_000) -> list[Figure]:
    """Joint states of six joints in an mcap bag."""
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

        seconds = in_turns({'ours': lambda: data.load(path), 'single': one_by_one}, repeats=3)
    return [
        Figure(
            'load joint states from a bag',
            1e6 * seconds['ours'] / samples,
            'us/sample',
            'one message after another',
            seconds['single'] / seconds['ours'],
        )
    ]
