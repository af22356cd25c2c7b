"""Writing a Dataset: a rosbag2 (mcap) directory or a csv, in the form that `load` reads back."""

from __future__ import annotations

import gzip
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_id import files
from robot_id.data.dataset import Dataset, Run
from robot_id.data.mapping import CHANNELS
from robot_id.exceptions import DataError

if TYPE_CHECKING:
    from robot_id.data.io.bags.writer import BagWriter

Array = NDArray[np.float64]

_BLOCK = 16384
# Between runs that share their time a bag needs a gap, so that they are separated again.
_PAUSE_S = 1.0
_PAUSE_STEPS = 20


def save(dataset: Dataset, path: str | Path, overwrite: bool = False) -> Path:
    """
    Write a data set by its ending: .csv, .csv.gz, .npz; any other is a bag directory.

    Runs whose times overlap are moved apart in a bag, one after the other.

    :param overwrite: False refuses to replace an existing file (a bag is never overwritten).
    :returns: the path.
    """
    path = Path(path)
    name = path.name.lower()
    if os.path.exists(path) and (os.path.isdir(path) or not overwrite):
        raise DataError(f'{path}: exists already and is not overwritten', code='exists')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(('.csv', '.csv.gz', '.npz')):
            write = _save_npz if name.endswith('.npz') else _save_csv
            with files.replacing(path) as draft:
                write(dataset, draft)
        elif name.endswith(('.mcap', '.db3', '.mat', '.txt', '.bag')):
            raise DataError(
                f"{path}: cannot write '{path.suffix}'; a bag is a directory, give a name",
                code='no_writer',
            )
        else:
            _save_bag(dataset, path)
    except OSError as error:
        raise DataError(f'{path}: cannot be written ({error.strerror or error})') from error
    return path


def _present(dataset: Dataset) -> list[str]:
    """Return the channels that every run has."""
    return [
        channel
        for channel in CHANNELS
        if all(getattr(run, channel) is not None for run in dataset.runs)
        and (channel != 'torque' or dataset.has_torque)
    ]


def _save_csv(dataset: Dataset, path: Path) -> None:
    """Write the columns time, run (when there are several), and <channel>.<joint>."""
    channels = _present(dataset)
    several = len(dataset.runs) > 1
    header = ['time', *(['run'] if several else [])]
    header += [f'{channel}.{joint}' for channel in channels for joint in dataset.joint_names]
    bad = next((joint for joint in dataset.joint_names if set(joint) & set(',;\t"\n')), None)
    if bad is not None:
        raise DataError(
            f"{path}: joint name '{bad}' cannot stand in a csv header", code='bad_name'
        )
    opener = gzip.open if path.suffix == '.gz' else open
    with opener(path, 'wt', encoding='utf-8', newline='\n') as file:
        file.write(','.join(header) + '\n')
        for number, run in enumerate(dataset.runs, start=1):
            for first in range(0, len(run), _BLOCK):
                rows = slice(first, first + _BLOCK)
                columns = [run.time[rows, None]]
                if several:
                    columns.append(np.full_like(columns[0], number))
                columns += [getattr(run, channel)[rows] for channel in channels]
                # repr keeps every bit of a float64.
                for row in np.hstack(columns).tolist():
                    file.write(','.join(map(repr, row)) + '\n')


def _save_npz(dataset: Dataset, path: Path) -> None:
    arrays = {
        name: np.concatenate([getattr(run, name) for run in dataset.runs])
        for name in ('time', *_present(dataset))
    }
    if len(dataset.runs) > 1:
        numbers = range(1, len(dataset.runs) + 1)
        arrays['run'] = np.repeat(numbers, [len(run) for run in dataset.runs])
    arrays['joint_names'] = np.array(dataset.joint_names)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def _save_bag(dataset: Dataset, path: Path) -> None:
    """Write JointState on joint_states, JointTrajectory on reference, commands where known."""
    from robot_id.data.io.bags.writer import BagWriter

    channels = set(_present(dataset))
    try:
        with BagWriter(path, dataset.joint_names, channels) as bag:
            _put_runs(bag, dataset)
    except BaseException:
        # A part of a recording looks like a whole one.
        shutil.rmtree(path, ignore_errors=True)
        raise


def _put_runs(bag: BagWriter, dataset: Dataset) -> None:
    end = -np.inf
    for run in dataset.runs:
        pause = max(_PAUSE_S, _PAUSE_STEPS * run.step)
        shift = 0.0 if run.time[0] >= end + pause else end + pause - run.time[0]
        if np.isneginf(end):
            shift = max(0.0, -run.time[0])
        for first in range(0, len(run), _BLOCK):
            bag.write(_rows(run, first, first + _BLOCK), shift)
        end = run.time[-1] + shift


def _rows(run: Run, first: int, last: int) -> dict[str, Array]:
    given = {'time': run.time, **run.channels()}
    return {name: values[first:last] for name, values in given.items()}
