"""The rows of recordings, each filtered for its own noise, kept in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.clipping import clipped
from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError
from robot_id.regression.preprocessing.options import LARGEST_BAND_HZ
from robot_id.regression.preprocessing.resolve import Resolved, resolve
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.system import System
from robot_id.regression.uncertainty.standard_errors import weighted_rows
from robot_id.robot import Robot

Array = NDArray[np.float64]
MEMORY_MB = 1024.0
Flags = NDArray[np.bool_]
# The filter before decimation spreads a sample over this many rows on either side.
SPREAD = 2


def unclipped(observation: Observation) -> list[Flags]:
    """
    Return for each run the (M, n) rows that no clipped sample reaches.

    :param observation: whose rows were made and kept.
    """
    found: dict[int, list[Flags]] = {}
    for piece in observation.kept_rows or []:
        run = observation.dataset.runs[piece.run]
        limits, flags = clipped(run)
        free = np.ones((len(piece.time), observation.n), dtype=bool)
        if limits:
            reach = SPREAD * (observation.processing.decimation or 1) * run.step
            first = np.searchsorted(run.time, piece.time - reach)
            last = np.searchsorted(run.time, piece.time + reach, side='right')
            counted = np.concatenate([np.zeros((1, observation.n)), np.cumsum(flags, axis=0)])
            free = counted[last] == counted[first]
        found.setdefault(piece.run, []).append(free)
    return [np.concatenate(parts) for parts in found.values()]


def refuse_same(recordings: Sequence[tuple[str, Dataset]]) -> None:
    """
    Refuse two recordings with the same samples, whatever their files are called.

    :param recordings: what each is given as, and its samples.
    """
    for (first, one), (second, other) in combinations(recordings, 2):
        if _same(one, other):
            raise DataError(
                f'{first} {one.source} and {second} {other.source} are the same recording: '
                'each needs a recording of its own'
            )


def _same(one: Dataset, other: Dataset) -> bool:
    return len(one.runs) == len(other.runs) and all(
        np.array_equal(a.position, b.position) and np.array_equal(a.torque, b.torque)
        for a, b in zip(one.runs, other.runs)
    )


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


def resolve_all(robot: Robot, datasets: Sequence[Dataset]) -> list[Resolved]:
    """Return the processing of each recording; friction turns in all as in the first."""
    first = resolve(robot, datasets[0])
    return [first, *(resolve(robot, data, first.slope) for data in datasets[1:])]


def rows_of(robot: Robot, dataset: Dataset, resolved: Resolved, unknowns: int) -> RecordingRows:
    """
    Return the rows of a recording.

    :param unknowns: parameters to find; twice as many rows are needed, and twice as many values as
        the band of a robot's torques holds in that time: oversampling adds no information.
    """
    observation = Observation(robot, dataset, resolved.processing, resolved.slope, MEMORY_MB)
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
