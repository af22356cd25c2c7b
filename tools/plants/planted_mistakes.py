"""Mistakes of users, planted one at a time into a clean recording."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from plants.channel_mistakes import MISTAKES, UNITS
from plants.mujoco_arms import Arm, make_arm, random_mount, write_robot
from plants.poor_recordings import POOR
from plants.recording_conditions import USUAL, Conditions, recorded

from robot_id.data.dataset import Dataset
from robot_id.robot import load_robot

Array = NDArray[np.float64]
Generator = np.random.Generator
ALL = (*MISTAKES, 'gravity_direction', 'kinematics', 'rest', 'excitation')


@dataclass(frozen=True)
class Planted:
    """
    A recording with one mistake.

    :param codes: findings that name it correctly.
    :param joints: indices of the joints it is about, empty for all.
    :param robot_file: what the user would give.
    :param units: that the user's mapping gives the channels.
    """

    codes: tuple[str, ...]
    joints: tuple[int, ...]
    robot_file: Path
    dataset: Dataset
    detail: str = ''
    units: dict[str, str] = field(default_factory=dict)


def _changed(dataset: Dataset, **changes: Array | None) -> Dataset:
    return replace(dataset, runs=(replace(dataset.runs[0], **changes),))


def plant(
    mistake: str, name: str, folder: Path, rng: Generator, conditions: Conditions = USUAL
) -> Planted:
    """Record an arm and plant a mistake."""
    arm = make_arm(name, folder, rng)
    if mistake in ('rest', 'excitation'):
        planted = _badly_moved(mistake, arm, rng, conditions)
    elif mistake in ('gravity_direction', 'kinematics'):
        planted = _wrong_robot(mistake, arm, folder, rng, conditions)
    elif mistake in POOR:
        planted = Planted((), (), arm.robot_file, POOR[mistake](arm, rng, conditions))
    else:
        dataset = recorded(arm, rng, conditions)
        planted = Planted((), (), arm.robot_file, dataset)
        if mistake != 'clean':
            run = dataset.runs[0]
            codes, joints, changes, detail = MISTAKES[mistake](run, rng)
            if mistake in ('position_unit', 'motor_positions', 'radians'):
                slides = _slides(arm)
                for channel in changes:
                    # Velocities may not be recorded.
                    if changes[channel] is not None:
                        changes[channel][:, slides] = getattr(run, channel)[:, slides]
            changed = _changed(dataset, **changes)
            units = UNITS.get(mistake, {})
            planted = Planted(codes, joints, arm.robot_file, changed, detail, units)
    if conditions.placeholders:
        planted = replace(planted, robot_file=_with_placeholders(planted.robot_file))
    return planted


def _slides(arm: Arm) -> NDArray[np.bool_]:
    k = load_robot(arm.robot_file).kinematics
    moving = k.dof >= 0
    return k.prismatic[moving][np.argsort(k.dof[moving])].astype(bool)


def _with_placeholders(robot_file: Path) -> Path:
    """Write the robot file with 1 kg and 0.01 kg.m^2 in place of every inertia."""
    content = yaml.safe_load(robot_file.read_text())
    root = ElementTree.parse(content['urdf']).getroot()
    for inertial in root.iter('inertial'):
        for child in list(inertial):
            inertial.remove(child)
        ElementTree.SubElement(inertial, 'mass', {'value': '1.0'})
        same = {f'i{a}{b}': '0.01' if a == b else '0' for a, b in ('xx', 'yy', 'zz')}
        same |= {'ixy': '0', 'ixz': '0', 'iyz': '0'}
        ElementTree.SubElement(inertial, 'inertia', same)
    urdf = robot_file.with_name(f'{robot_file.stem}_plain.urdf')
    urdf.write_bytes(ElementTree.tostring(root))
    return write_robot(urdf.with_suffix('.yaml'), urdf, np.array(content['gravity']))


def _badly_moved(mistake: str, arm: Arm, rng: Generator, conditions: Conditions) -> Planted:
    n = load_robot(arm.robot_file).n
    if mistake == 'rest':
        count = min(int(rng.integers(1, 3)), n - 1)
        still = tuple(sorted(int(j) for j in rng.choice(n, size=count, replace=False)))
        dataset = recorded(arm, rng, conditions, still=still)
        return Planted(('rest',), still, arm.robot_file, dataset)
    kind = int(rng.integers(2))
    change = {'amplitude': 0.03} if kind == 0 else {'synchronous': True}
    dataset = recorded(arm, rng, conditions, **change)
    return Planted(('excitation', 'rest'), (), arm.robot_file, dataset, str(change))


def _wrong_robot(
    mistake: str, arm: Arm, folder: Path, rng: Generator, conditions: Conditions
) -> Planted:
    dataset = recorded(arm, rng, conditions)
    if mistake == 'gravity_direction':
        other = arm.gravity
        while other @ arm.gravity > 0.5 * 9.81**2:
            other = random_mount(rng)
        file = write_robot(folder / f'{arm.name}_mounted.yaml', arm.urdf, other)
        return Planted(('gravity_direction',), (), file, dataset, f'{arm.gravity} as {other}')
    text = arm.urdf.read_text()
    factor = float(rng.choice([0.7, 0.8, 1.25, 1.4]))

    def longer(match: re.Match[str]) -> str:
        values = [float(v) * factor for v in match[2].split()]
        return match[1] + ' '.join(map(str, values)) + '"'

    head, *joints = re.split(r'(?=<joint )', text)
    joints = [re.sub(r'(<origin[^>]*xyz=")([^"]*)"', longer, joint, count=1) for joint in joints]
    urdf = folder / f'{arm.name}_longer.urdf'
    urdf.write_text(head + ''.join(joints))
    file = write_robot(folder / f'{arm.name}_longer.yaml', urdf, arm.gravity)
    return Planted(('kinematics',), (), file, dataset, f'lengths x {factor}')
