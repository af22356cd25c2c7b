"""Torques at the times of the positions: a hold or a late recording is corrected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.data.signals.processing import Processing
from robot_id.exceptions import OptionError

Array = NDArray[np.float64]


def torque_at_samples(run: Run, processing: Processing, low: int, high: int) -> Array:
    """(high - low, n) torques that belong to the positions of samples low to high."""
    offset = np.atleast_1d(np.asarray(processing.torque_delay_s or 0.0, float)) / run.step
    if offset.size == 1 and offset[0] != 0.0:
        return _shifted(run.torque, float(offset[0]), low, high)
    if offset.size > 1:
        n = run.torque.shape[1]
        if offset.size != n:
            raise OptionError(f'torque_delay_s has {offset.size} values for {n} joints')
        columns = [_shifted(run.torque[:, [j]], float(offset[j]), low, high) for j in range(n)]
        return np.concatenate(columns, axis=1)
    if not processing.held_torque:
        return run.torque[low:high]
    # A held torque has the gain sin(w h/2) / (w h/2) of its samples; the mean of two has
    # cos(w h/2), four samples have it to the fourth order.
    at, last = np.arange(low, high), len(run.torque) - 1
    near, far = ((0, -1), (1, -2))
    return np.asarray(
        sum(13.0 / 24.0 * run.torque[np.clip(at + k, 0, last)] for k in near)
        - sum(1.0 / 24.0 * run.torque[np.clip(at + k, 0, last)] for k in far)
    )


def _shifted(torque: Array, samples: float, low: int, high: int) -> Array:
    """Return samples low to high of a torque, shifted back by its delay in samples (cubic)."""
    whole = int(np.floor(samples))
    u = samples - whole
    weights = (
        -u * (u - 1.0) * (u - 2.0) / 6.0,
        (u + 1.0) * (u - 1.0) * (u - 2.0) / 2.0,
        -(u + 1.0) * u * (u - 2.0) / 2.0,
        (u + 1.0) * u * (u - 1.0) / 6.0,
    )
    at = np.arange(low, high) + whole
    last = len(torque) - 1
    return sum(
        (w * torque[np.clip(at + k, 0, last)] for w, k in zip(weights, (-1, 0, 1, 2))),
        np.zeros((high - low, torque.shape[1])),
    )
