"""The rows of recordings, each filtered for its own noise, kept in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError
from robot_id.experiment.payload.clipped_rows import unclipped
from robot_id.model import Robot
from robot_id.regression.derivation import LARGEST_BAND_HZ
from robot_id.regression.deviations import weighted_rows
from robot_id.regression.observation import Observation
from robot_id.regression.settling import Settled, settle
from robot_id.regression.system import System

Array = NDArray[np.float64]
MEMORY_MB = 1024.0


class TooShort(DataError):
    """A recording that is too short for its unknowns."""


@dataclass(frozen=True)
class RecordingRows:
    """
    W and Y of a recording, zero where a row is left out.

    :param W: for each run (M, n, b).
    :param Y: for each run (M, n).
    :param sigma: (n,) what each joint's own fit leaves.
    """

    W: list[Array]
    Y: list[Array]
    sigma: Array

    @property
    def count(self) -> int:
        """Number of rows in use."""
        return int(sum(np.count_nonzero(np.any(W != 0.0, axis=2)) for W in self.W))


def settle_all(robot: Robot, datasets: Sequence[Dataset]) -> list[Settled]:
    """Return the processing of each recording; friction turns in all as in the first."""
    first = settle(robot, datasets[0])
    return [first, *(settle(robot, data, first.slope) for data in datasets[1:])]


def rows_of(robot: Robot, dataset: Dataset, settled: Settled, unknowns: int) -> RecordingRows:
    """
    Return the rows of a recording.

    :param unknowns: parameters to find; twice as many rows are needed, and twice as many values as
        the band of a robot's torques holds in that time: oversampling adds no information.
    """
    observation = Observation(robot, dataset, settled.processing, settled.slope, MEMORY_MB)
    sigma = System(observation.factors()).joint_weights()[1]
    kept = np.ones(len(robot.base), dtype=bool)
    found = weighted_rows(observation, kept, np.ones(robot.n))
    if found is None:
        raise DataError(f'{dataset.source}: too long to be kept in memory, cut it into parts')
    free = unclipped(observation)
    W = [G[:, :, :-1] * kept[:, :, None] for G, kept in zip(found[0], free)]
    rows = RecordingRows(W, [Y * kept for Y, kept in zip(found[1], free)], sigma)
    seconds = sum(run.duration for run in dataset.runs)
    values = min(rows.count, int(2.0 * LARGEST_BAND_HZ * seconds * robot.n))
    if values < 2 * unknowns:
        raise TooShort(
            f'{dataset.source or "recording"}: too short, {seconds:.3g} s hold {values} '
            f'independent torques for {unknowns} parameters; record a longer motion'
        )
    return rows


def joint_weights(recordings: Sequence[RecordingRows]) -> Array:
    """(n,) weights 1 / sigma_j of the joints, over recordings."""
    return 1.0 / np.sqrt(np.mean([rows.sigma**2 for rows in recordings], axis=0))
