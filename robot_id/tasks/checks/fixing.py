"""Correction of findings: the corrected recording and robot file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from robot_id import data
from robot_id.data.dataset import Dataset, Run
from robot_id.robot import Robot
from robot_id.tasks.checks.finding import Findings, Remedy

Array = NDArray[np.float64]

# Less certain findings are left to a person.
CERTAIN = 0.9
_POSITIONS = (
    'position',
    'velocity',
    'reference_position',
    'reference_velocity',
    'reference_acceleration',
)
_TORQUES = ('torque', 'control')


def remedies(findings: Findings) -> list[Remedy]:
    """Return the remedies of the findings that are certain enough."""
    return [f.remedy for f in findings if f.remedy is not None and f.certainty >= CERTAIN]


def corrected(dataset: Dataset, applied: Iterable[Remedy]) -> Dataset:
    """
    Return the recording as it would be without the mistakes.

    :param dataset: columns in the order of the robot's joints.
    """
    for remedy in applied:
        runs = tuple(_corrected(run, remedy) for run in dataset.runs)
        dataset = replace(dataset, runs=runs)
    return dataset


def save_corrected(folder: Path, robot: Robot, dataset: Dataset, findings: Findings) -> list[Path]:
    """
    Write the corrections into a folder: `data.npz`, and `robot.yaml` for a new gravity.

    :return: the files written, none if nothing can be corrected.
    """
    applied, files = remedies(findings), []
    if not applied:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    if any(replace(each, gravity=None) != Remedy() for each in applied):
        files.append(folder / 'data.npz')
        data.save(corrected(dataset.select(robot.joint_names), applied), files[-1])
    for remedy in applied:
        if remedy.gravity is not None:
            files.append(folder / 'robot.yaml')
            files[-1].write_text(_robot_file(robot, remedy.gravity))
    return files


def _robot_file(robot: Robot, gravity: tuple[float, float, float]) -> str:
    """Return the robot file with another gravity."""
    content = robot.description.model_dump(mode='json', exclude_defaults=True)
    content['gravity'] = list(gravity)
    if robot.urdf is not None:
        content['urdf'] = str(robot.urdf.resolve())
    return yaml.safe_dump(content, sort_keys=False)


def _corrected(run: Run, remedy: Remedy) -> Run:
    """Return one run with a remedy applied: columns, scale, offset, then the clock."""
    change: dict[str, Array] = {}
    for names, columns, scale in (
        (_POSITIONS, remedy.position_columns, remedy.position_scale),
        (_TORQUES, remedy.torque_columns, remedy.torque_scale),
    ):
        for name in names:
            values = getattr(run, name)
            if values is None:
                continue
            values = values if columns is None else values[:, list(columns)]
            change[name] = values if scale is None else values * np.array(scale)
    if remedy.position_offset is not None:
        for name in ('position', 'reference_position'):
            if name in change:
                change[name] = change[name] + np.array(remedy.position_offset)
    if remedy.torque_delay:
        at = np.clip(run.time + remedy.torque_delay, run.time[0], run.time[-1])
        for name in _TORQUES:
            if name in change:
                change[name] = np.column_stack(
                    [np.interp(at, run.time, c) for c in change[name].T]
                )
    return run.changed(run.time * remedy.time_scale, lambda name, values: change.get(name, values))
