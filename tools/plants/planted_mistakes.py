"""Mistakes of users, planted one at a time into a clean recording."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from plants.mujoco_arms import Arm, make_arm, random_mount, write_robot
from plants.poor_recordings import POOR
from plants.recording_conditions import USUAL, Conditions, recorded

from robot_id.data.dataset import Dataset, Run
from robot_id.model import load_robot

Array = NDArray[np.float64]
Generator = np.random.Generator


@dataclass(frozen=True)
class Planted:
    """
    A recording with one mistake.

    :param codes: findings that name it correctly.
    :param joints: indices of the joints it is about, empty for all.
    :param robot_file: what the user would give.
    """

    codes: tuple[str, ...]
    joints: tuple[int, ...]
    robot_file: Path
    dataset: Dataset
    detail: str = ''


def _changed(dataset: Dataset, **changes: Array | None) -> Dataset:
    return replace(dataset, runs=(replace(dataset.runs[0], **changes),))


def _late(tau: Array, seconds: float, rate: float) -> Array:
    t = np.arange(len(tau)) / rate
    at = np.clip(t - seconds, 0.0, t[-1])
    return np.column_stack([np.interp(at, t, column) for column in tau.T])


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
            if mistake == 'position_unit':
                slides = _slides(arm)
                for channel in changes:
                    changes[channel][:, slides] = getattr(run, channel)[:, slides]
            planted = Planted(codes, joints, arm.robot_file, _changed(dataset, **changes), detail)
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


Change = tuple[tuple[str, ...], tuple[int, ...], dict[str, Array | None], str]


def _torque_unit(run: Run, rng: Generator) -> Change:
    factor = float(rng.choice([1e-3, 1e2, 1e3]))
    return ('torque_unit',), (), {'torque': run.torque * factor}, f'x {factor:g}'


def _position_unit(run: Run, rng: Generator) -> Change:
    changes: dict[str, Array | None] = {'position': np.rad2deg(run.position)}
    if run.velocity is not None:
        changes['velocity'] = np.rad2deg(run.velocity)
    return ('position_unit',), (), changes, 'deg'


def _time_unit(run: Run, rng: Generator) -> Change:
    factor = float(rng.choice([1e3, 1e6, 1e9]))
    return ('time_unit',), (), {'time': run.time * factor}, f'x {factor:g}'


def _all_flipped(run: Run, rng: Generator) -> Change:
    return ('torque_sign',), (), {'torque': -run.torque}, ''


def _one_flipped(run: Run, rng: Generator) -> Change:
    j = int(rng.integers(run.torque.shape[1]))
    sign = np.ones(run.torque.shape[1])
    sign[j] = -1.0
    return ('torque_sign',), (j,), {'torque': run.torque * sign}, ''


def _swapped(run: Run, rng: Generator) -> Change:
    n = run.torque.shape[1]
    i, j = sorted(int(k) for k in rng.choice(n, size=2, replace=False))
    order = np.arange(n)
    order[[i, j]] = j, i
    kind = int(rng.integers(3))
    changes: dict[str, Array | None] = {}
    if kind in (0, 2):
        changes['torque'] = run.torque[:, order]
    if kind in (1, 2):
        changes['position'] = run.position[:, order]
        if run.velocity is not None:
            changes['velocity'] = run.velocity[:, order]
    return ('joint_swap',), (i, j), changes, ('torque', 'position', 'both')[kind]


def _delayed(run: Run, rng: Generator) -> Change:
    delay = float(rng.choice([0.010, 0.050]))
    return ('torque_delay',), (), {'torque': _late(run.torque, delay, run.rate)}, f'{delay} s'


def _gear_ratio(run: Run, rng: Generator) -> Change:
    j = int(rng.integers(run.torque.shape[1]))
    factor = np.ones(run.torque.shape[1])
    factor[j] = float(rng.choice([0.1, 10.0]))
    kind = int(rng.integers(2))
    changes: dict[str, Array | None] = {'torque': run.torque * factor}
    if kind == 1:
        changes['position'] = run.position / factor
        if run.velocity is not None:
            changes['velocity'] = run.velocity / factor
    return ('gear_ratio',), (j,), changes, f'x {factor[j]:g} ' + ('torque', 'both')[kind]


def _motor_side(run: Run, rng: Generator) -> Change:
    ratio = rng.uniform(30.0, 160.0, run.torque.shape[1])
    return ('gear_ratio', 'torque_unit'), (), {'torque': run.torque / ratio}, f'{ratio}'


def _offset(run: Run, rng: Generator) -> Change:
    j = int(rng.integers(run.torque.shape[1]))
    offset = np.zeros(run.torque.shape[1])
    offset[j] = float(rng.choice([-1, 1])) * np.pi / 2
    return ('joint_offset',), (j,), {'position': run.position + offset}, f'{offset[j]:.2f}'


def _saturated(run: Run, rng: Generator) -> Change:
    limit = 0.8 * np.abs(run.torque).max(axis=0)
    return ('saturation',), (), {'torque': np.clip(run.torque, -limit, limit)}, ''


def _wrapped(run: Run, rng: Generator) -> Change:
    # The encoder wraps where this joint moves most, whatever its zero is.
    j = int(np.argmax(np.ptp(run.position, axis=0)))
    q = run.position.copy()
    edge = np.pi + np.median(q[:, j]) - np.pi
    q[:, j] = np.where(q[:, j] > edge, q[:, j] - 2 * np.pi, q[:, j])
    return ('wrap_around',), (j,), {'position': q}, ''


def _currents(run: Run, rng: Generator) -> Change:
    gain = np.exp(rng.uniform(np.log(6.0), np.log(30.0), run.torque.shape[1]))
    return ('gear_ratio', 'torque_unit'), (), {'torque': run.torque / gain}, f'{gain}'


def _noise(run: Run, rng: Generator) -> Change:
    tau = run.torque.mean(axis=0) + run.torque.std(axis=0) * rng.normal(size=run.torque.shape)
    return ('unexplained',), (), {'torque': tau}, ''


def _logger_stamps(run: Run, rng: Generator) -> Change:
    # A logger polls: it stamps each sample when it gets to it, most often late.
    late = rng.exponential(0.4, len(run)) * run.step
    time = np.sort(run.time + late)
    velocity = run.velocity
    if velocity is None:
        velocity = np.gradient(run.position, run.time, axis=0)
    return ('stamps',), (), {'time': time, 'velocity': velocity}, ''


MISTAKES: dict[str, Callable[[Run, Generator], Change]] = {
    'torque_unit': _torque_unit,
    'position_unit': _position_unit,
    'time_unit': _time_unit,
    'all_flipped': _all_flipped,
    'one_flipped': _one_flipped,
    'swapped': _swapped,
    'delayed': _delayed,
    'gear_ratio': _gear_ratio,
    'motor_side': _motor_side,
    'joint_offset': _offset,
    'saturated': _saturated,
    'wrapped': _wrapped,
    'currents': _currents,
    'noise': _noise,
    'logger_stamps': _logger_stamps,
}
ALL = (*MISTAKES, 'gravity_direction', 'kinematics', 'rest', 'excitation')
