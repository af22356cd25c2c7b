"""What a page shows: recordings as they are drawn, shapes of a robot, files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units
from robot_id.data.dataset import Dataset
from robot_id.data.mapping import CHANNELS
from robot_id.data.signals.envelope import Envelope
from robot_id.excitation import CRITERION_TEXTS
from robot_id.export.registry import FORMATS
from robot_id.methods.outcome import INTERVAL
from robot_id.methods.registry import methods
from robot_id.plain_table import number
from robot_id.robot import Robot
from robot_id.robot.files.source import robot_files
from robot_id.robot.friction import TERMS
from robot_id.robot.parameters.units import position_units, torque_units
from robot_id.robot.view import Shape, View
from robot_id.tasks.guessing.columns import ENDINGS as TABLES
from robot_id.tasks.guessing.guess import Assignment, Guess
from robot_id.tasks.guessing.writing import write as write_guess
from robot_id.tasks.measurements import measurements

__all__ = [
    'CHANNELS',
    'CRITERION_TEXTS',
    'FORMATS',
    'INTERVAL',
    'TABLES',
    'TERMS',
    'UNITS',
    'Assignment',
    'Envelope',
    'Guess',
    'Recorded',
    'Shape',
    'View',
    'joint_units',
    'methods',
    'number',
    'recorded',
    'robot_files',
    'write_guess',
]
Array = NDArray[np.float64]
# Seconds between two runs on the common axis.
BETWEEN = 1.0
# Channel (or 'time') -> the units that a mapping knows for it.
UNITS = {'time': tuple(units.TIME)} | {
    channel: tuple(known) for channel, known in units.OF_CHANNEL.items()
}


def joint_units(robot: Robot, channel: str) -> tuple[str, ...]:
    """(n,) units of the joints in a channel, '' where it has none of its own."""
    if channel.endswith('torque'):
        return torque_units(robot)
    kind = {'position': '', 'velocity': '/s', 'acceleration': '/s2'}
    after = kind.get(channel.removeprefix('reference_'))
    return tuple('' if after is None else unit + after for unit in position_units(robot))


@dataclass(frozen=True)
class Recorded:
    """
    A recording as it is drawn: its runs one after the other on one axis.

    :param starts: seconds where the runs begin on that axis.
    :param borders: seconds where a run follows another, with what lies between.
    :param notes: what the reader did.
    """

    dataset: Dataset
    envelope: Envelope
    starts: tuple[float, ...]
    borders: tuple[tuple[float, str], ...]
    notes: tuple[str, ...]

    def at(self, seconds: float) -> Array:
        """(n,) positions at a place of the axis."""
        k = int(np.searchsorted(self.envelope.time, seconds))
        return self.envelope.channels['position'][min(k, len(self.envelope.time) - 1)]


def recorded(robot: Robot, path: str | Path, mapping: str | Path | None = None) -> Recorded:
    """Read a recording for the eye."""
    dataset = measurements(robot, path, mapping)
    times, starts, end = [], [], 0.0
    for run in dataset.runs:
        starts.append(end)
        times.append(run.time - run.time[0] + end)
        end = float(times[-1][-1]) + BETWEEN
    channels = {}
    for name in CHANNELS:
        parts = [getattr(run, name, None) for run in dataset.runs]
        known = [part for part in parts if part is not None and part.shape[1] > 0]
        if len(known) == len(parts):
            channels[name] = known[0] if len(known) == 1 else np.concatenate(known)
    time = times[0] if len(times) == 1 else np.concatenate(times)
    envelope, notes = Envelope(time, channels), tuple(dataset.notes)
    return Recorded(dataset, envelope, tuple(starts), tuple(_borders(dataset, starts)), notes)


def _borders(dataset: Dataset, starts: Sequence[float]) -> Iterator[tuple[float, str]]:
    """Yield where the runs after the first begin; a gap where the clock goes on."""
    for k, (before, after) in enumerate(pairwise(dataset.runs), start=1):
        gap = float(after.time[0] - before.time[-1])
        same = gap > 0.0 and before.name == after.name
        yield starts[k], f'gap of {gap:.4g} s' if same else f'run {k + 1}'
