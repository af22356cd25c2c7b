"""A robot file with other drive gains: the place where `drive_gain` is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from robot_id import files
from robot_id.exceptions import DescriptionError
from robot_id.robot.files.loading import load_robot, read_description
from robot_id.robot.files.source import robot_files
from robot_id.yaml_text import read_yaml


def write_drive_gains(
    robot: str | Path, gains: Mapping[str, float | None], path: str | Path
) -> None:
    """
    Write a new file of a robot with its drive gains (comments are not kept).

    :param robot: a shipped name, a robot file or a URDF.
    :param gains: joint torque over control signal, by joint; None where it is not to be used.
    """
    for name, gain in gains.items():
        if gain is None:
            raise DescriptionError(
                f"{path}: not written, joint '{name}' has a negative gain: correct its sign first",
                joint=name,
            )
    source = robot_files().get(str(robot), Path(robot))
    content = _content(source)
    joints = content.setdefault('joints', [])
    if not joints:
        joints += [{'name': name} for name in load_robot(robot).joint_names]
    for joint in joints:
        if joint['name'] in gains:
            joint['drive_gain'] = float(f'{gains[joint["name"]]:.6g}')
    folder = Path(path).absolute().parent
    if 'urdf' in content:
        urdf = (source.absolute().parent / content['urdf']).resolve()
        content['urdf'] = os.path.relpath(urdf, folder)
    files.write_text(path, yaml.safe_dump(content, sort_keys=False, width=99))


def _content(source: Path) -> dict[str, Any]:
    if source.suffix in ('.urdf', '.xml'):
        return {'name': source.stem, 'urdf': str(source.resolve())}
    read_description(source)
    return dict(read_yaml(source))
