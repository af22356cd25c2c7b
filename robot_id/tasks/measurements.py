"""Reading the measurements of a robot, with a check of their plausibility."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from robot_id import data
from robot_id.data.arrays import join
from robot_id.data.cleaning.held_samples import without_held_samples
from robot_id.data.cleaning.joining import joined
from robot_id.exceptions import DataError
from robot_id.methods.registry import TORQUE_FREE
from robot_id.robot import Robot

Recording: TypeAlias = data.Dataset | str | Path
Data: TypeAlias = Recording | Sequence[Recording]


def measurements(
    robot: Robot, given: Data, mapping: data.MappingLike | None = None
) -> data.Dataset:
    """
    Return one Dataset with the columns in the order of the robot's joints.

    :param given: a Dataset, a file, or several of either.
    """
    if isinstance(given, Mapping) or hasattr(given, 'columns'):
        raise _not_data(given)
    several = isinstance(given, Iterable) and not isinstance(given, data.Dataset | str)
    sets = []
    for one in given if several else [given]:  # type: ignore[list-item, union-attr]
        if isinstance(one, data.Dataset):
            sets.append(one.select(robot.joint_names))
        elif isinstance(one, str | os.PathLike):
            sets.append(data.load(Path(one), mapping, robot))
        else:
            raise _not_data(one)
    return sets[0] if len(sets) == 1 else join(sets)


def _not_data(given: object) -> DataError:
    """Return the error for what is no recording, with the way to make it one."""
    way = 'arrays become one by Dataset.from_arrays(time=..., position=..., torque=...)'
    if hasattr(given, 'columns'):
        way = 'a data frame becomes one by Dataset.from_dataframe(frame)'
    return DataError(
        f'data: a Dataset, a file or a list of them is needed, got {type(given).__name__}; {way}',
        key='data',
    )


def load_for(
    robot: Robot,
    given: Data,
    mapping: data.MappingLike | None = None,
    needs_torque: bool = True,
) -> data.Dataset:
    """
    Return the measurements of a robot as they are identified, see `prepared`.

    :param needs_torque: refuse recordings without torques.
    """
    return prepared(measurements(robot, given, mapping), needs_torque)


def prepared(dataset: data.Dataset, needs_torque: bool = True) -> data.Dataset:
    """
    Return a recording whose joints all have torques, each run and sample once, in one order.

    How it was cut into files must not matter, nor their order: the runs are sorted by their
    stamps and by what they hold, and those that continue each other are one.
    """
    if needs_torque and not dataset.has_torque:
        require_torque(dataset, 'this', f'method {" or ".join(TORQUE_FREE)}')
    runs = tuple(sorted(dataset.runs, key=_key))
    if any(one is not other for one, other in zip(runs, dataset.runs)):
        dataset = replace(dataset, runs=runs)
    dataset = _each_once(dataset)
    if not dataset.has_torque:
        return joined(dataset)
    return without_held_samples(joined(with_torques(dataset)))


def _each_once(dataset: data.Dataset) -> data.Dataset:
    """Return the runs without copies: they would count as new measurements, and for a hold-out."""
    runs: list[data.Run] = []
    notes = list(dataset.notes)
    for run in dataset.runs:
        first = next((each for each in runs if _same(each, run)), None)
        if first is None:
            runs.append(run)
        else:
            notes.append(f'{run.name or "a run"}: a copy of {first.name or "another"}, left out')
    if len(runs) == len(dataset.runs):
        return dataset
    return replace(dataset, runs=tuple(runs), notes=tuple(notes))


def _same(one: data.Run, other: data.Run) -> bool:
    """Whether two runs hold the same positions and torques, whatever their clocks."""
    return np.array_equal(one.position, other.position) and np.array_equal(
        one.torque, other.torque
    )


def _key(run: data.Run) -> tuple[float, int, list[float], list[float]]:
    middle = len(run) // 2
    return (
        float(run.time[0]),
        len(run),
        run.position[middle].tolist(),
        run.torque[middle].tolist(),
    )


def with_torques(dataset: data.Dataset) -> data.Dataset:
    """
    Return a recording whose joints all have torques.

    :raises DataError: naming a joint whose torque is zero in every sample, so it was not measured.
    """
    for j, name in enumerate(dataset.joint_names):
        if not any(np.any(run.torque[:, j]) for run in dataset.runs):
            raise DataError(
                f"{dataset.source or 'recording'}: the torque of joint '{name}' is zero in every "
                'sample, it was not recorded; map another column or topic, or put the joint under '
                "'locked' of a robot file",
                joint=name,
            )
    return dataset


def require_torque(dataset: data.Dataset, what: str, instead: str = '') -> None:
    """
    Refuse a recording without torques.

    :param what: who needs them, such as "method 'idim_wls'".
    :param instead: what works without.
    """
    if not dataset.has_torque:
        raise DataError(
            f"{dataset.source or 'recording'}: no torque was recorded (key 'torque' of the "
            f'mapping, or effort of the joint states), and {what} needs one'
            + (f'; without: {instead}' if instead else '')
        )


def implausible(robot: Robot, dataset: data.Dataset) -> tuple[str, ...]:
    """Return one line for each thing in the data that the robot's limits make unlikely."""
    limits = robot.limits
    found = data.check_plausible(
        dataset,
        limits.lower,
        limits.upper,
        limits.velocity,
        limits.torque,
        robot.prismatic.tolist(),
    )
    return tuple(found)
