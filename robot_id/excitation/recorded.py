"""What recordings tell already: a new motion is searched for what they lack."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_id.data.dataset import Dataset
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import RIGID_HZ, Processing, resolve, usable
from robot_id.exceptions import DataError
from robot_id.trajectory.trajectory import Array

# Rows per second that are looked at: ten for each period of the fastest rigid motion.
ROWS_HZ = 10.0 * RIGID_HZ
# Below this share of a joint's velocity limit the sign of its velocity may be that of the noise.
RESTS = 0.005


@dataclass(frozen=True)
class Recorded:
    """
    States of recordings.

    :param states: (3, n, N) positions, velocities and accelerations of each run.
    :param steps: seconds from one of its states to the next.
    """

    states: tuple[Array, ...]
    steps: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Length of the recordings, without the borders of the filters."""
        return sum(x.shape[2] * step for x, step in zip(self.states, self.steps))


def recorded(dataset: Dataset, velocity: Array) -> Recorded:
    """
    Return the states of recordings.

    A joint at rest has velocity zero: the sign of its noise would tell of a friction that has not
    been seen.

    :param dataset: its columns in the order of the robot's joints.
    :param velocity: (n,) limits of the joints, infinite where none is known.
    """
    states, steps = [], []
    for run in dataset.runs:
        cutoff = min(RIGID_HZ, 0.2 * run.rate)
        processing = resolve(Processing(cutoff_hz=cutoff, decimation=1), run.rate)
        try:
            first, last = usable(run, processing)
        except DataError:
            continue
        every = max(1, round(run.rate / ROWS_HZ))
        rows = differentiate(run, processing, (first, last))
        states.append(np.stack([part[::every].T for part in rows]))
        steps.append(every * run.step)
    if not states:
        raise DataError(
            f'{dataset.source or "recording"}: no run is long enough to tell what it excites'
        )
    seen = np.max([np.abs(x[1]).max(axis=1) for x in states], axis=0)
    rest = RESTS * np.where(np.isfinite(velocity), velocity, seen)
    for x in states:
        x[1][np.abs(x[1]) < rest[:, None]] = 0.0
    return Recorded(tuple(states), tuple(steps))
