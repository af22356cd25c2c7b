"""The rows of each joint that remain when borders and rest are left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing, end_rows
from robot_id.regression.preprocessing.rest_band import coarse_speeds, dwell_band, held_joints

Array = NDArray[np.float64]


def rows_of_joints(dataset: Dataset, processing: Processing) -> Array:
    """
    (n,) decimated rows of each joint between the borders of all runs, without those at rest.

    :param processing: resolved; its rest band may be open.
    """
    factor, ends = processing.decimation or 1, end_rows(processing)
    total = np.zeros(len(dataset.joint_names))
    for run, share in zip(dataset.runs, _moving_shares(dataset)):
        samples = len(run) - 2 * (processing.border or 0)
        if samples >= max(2 * (ends + 1) * factor, 4):
            total += (-(-samples // factor) - 2 * ends) * share
    return total


def enough(rows: Array, needed: Array) -> bool:
    """
    Whether the joints that move have the rows that they need, most of them.

    A joint that moves for a short time has few, however they are made; the parameters it shares
    with the others are determined along with these.
    """
    moving = rows > 0.0
    if not moving.any():
        return False
    return bool(np.median((rows / needed)[moving]) >= 1.0)


def _moving_shares(dataset: Dataset) -> tuple[Array, ...]:
    """For each run (n,) the share of its time in which each joint is faster than its rest band."""

    def found() -> tuple[Array, ...]:
        band = np.where(held_joints(dataset), np.inf, dwell_band(dataset))
        return tuple((coarse_speeds(run) >= band).mean(axis=0) for run in dataset.runs)

    return dataset.kept.get('moving shares', found)
