"""A guess of what a recording holds: each column with its reason, and what is not sure."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units
from robot_id.data.io.bags.messages import is_bag
from robot_id.exceptions import DataError, DescriptionError
from robot_id.robot import Robot, load_robot
from robot_id.tasks.guessing import evidence
from robot_id.tasks.guessing.by_model import ByModel, against_model
from robot_id.tasks.guessing.columns import Column, columns_of
from robot_id.tasks.guessing.folder import JointFiles, joint_files
from robot_id.tasks.guessing.grouping import Group, named_groups, unnamed_groups
from robot_id.tasks.guessing.joints import Joints, is_apart, match
from robot_id.tasks.guessing.naming import Name, name_of, plain
from robot_id.tasks.guessing.roles import Role, roles_of
from robot_id.tasks.guessing.sizes import Sizes, channel_sizes, torque_sizes

Array = NDArray[np.float64]
# Joints of a URDF that cannot be identified are locked one by one, up to this many.
MOST_LOCKED = 50


@dataclass(frozen=True)
class Assignment:
    """
    What one column is taken for.

    :param channel: of a mapping, 'time', or '' where it is not used.
    :param joint: of the robot, '' for the time.
    :param unit: of a mapping, '' for SI.
    :param scale: factor besides the unit.
    :param doubt: why it is not sure, '' where it is.
    """

    column: Column
    channel: str = ''
    joint: str = ''
    unit: str = ''
    scale: float = 1.0
    reason: str = ''
    doubt: str = ''


@dataclass(frozen=True)
class Guess:
    """
    How a recording is read.

    :param robot: with the joints that were recorded.
    :param path: the recording, a file or a folder with one for each joint.
    :param assignments: one for each column, in the order of the file.
    :param rate_hz: where no column is the time.
    :param drive_gains: joint -> N.m for one recorded unit, where currents stand for torques.
    :param law: 'duty' or 'voltage' where these stand for torques.
    :param doubts: what is not sure beside single columns, by key of the files that are written.
    :param notes: what else is worth to know.
    """

    robot: Robot
    path: Path
    assignments: tuple[Assignment, ...]
    locked: dict[str, float] = field(default_factory=dict)
    rate_hz: float | None = None
    drive_gains: dict[str, float] = field(default_factory=dict)
    law: str = ''
    files: JointFiles | None = None
    doubts: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def of(self, channel: str) -> list[Assignment]:
        """Return the assignments of a channel, in the order of the robot's joints."""
        order = {name: j for j, name in enumerate(self.robot.joint_names)}
        found = [each for each in self.assignments if each.channel == channel]
        return sorted(found, key=lambda each: order.get(each.joint, len(order)))

    @property
    def not_sure(self) -> dict[str, str]:
        """Return what is not sure: channel or key -> why."""
        found = dict(self.doubts)
        for each in self.assignments:
            if each.doubt and each.channel:
                found.setdefault(each.channel, each.doubt)
        return found


def load_any(robot: Robot | str | Path) -> tuple[Robot, dict[str, float], list[str]]:
    """Load a robot, with joints locked that cannot be identified (floating, planar)."""
    locked: dict[str, float] = {}
    notes: list[str] = []
    while True:
        try:
            return load_robot(robot, lock=locked or None), locked, notes
        except DescriptionError as error:
            name = error.joint
            if name is None or name in locked or len(locked) >= MOST_LOCKED:
                raise
            if "under 'locked'" not in str(error):
                raise
            locked[name] = 0.0
            notes.append(f"joint '{name}' is locked: {error}")


def guess(robot: Robot | str | Path, path: str | Path) -> Guess:
    """
    Return how a recording is read with a robot.

    :param robot: Robot, name, robot file or URDF.
    :param path: a table of any format, or a folder with a table for each joint.
    :raises DataError: where no column can be the position of a joint.
    """
    model, locked, notes = load_any(robot)
    path = Path(path)
    files = None
    if is_bag(path):
        raise DataError(f'{path}: a bag has names and SI units, it needs no mapping: check it')
    if os.path.isdir(path):
        files = joint_files(path, model)
        columns = list(files.columns)
    else:
        columns = columns_of(path)
    kept, rows = _plain_rows(columns)
    if rows > 1:
        notes.append(f'every sample is repeated in {rows} rows')
    known = () if _from_zero(kept, model.joint_names) else model.joint_names
    names = [name_of(column.name, known) for column in kept]
    clock = _clock(kept, names)
    time = kept[clock].values if clock is not None else np.arange(len(kept[0].values), dtype=float)
    others = [k for k in range(len(kept)) if k != clock]
    roles = _roles(model, [kept[k] for k in others], [names[k] for k in others], time)
    by_channel = {role.channel: role for role in roles}
    if 'position' not in by_channel:
        shown = ', '.join(column.label for column in columns[:12])
        raise DataError(
            f'{path}: cannot tell which columns are positions of joints ({shown}); name them in '
            "a mapping, or give the columns names such as 'position.<joint>'",
            code='unknown_columns',
        )
    return _assembled(model, path, files, columns, kept, clock, roles, locked, notes, names, time)


def _from_zero(columns: Sequence[Column], joints: Sequence[str]) -> bool:
    """Whether joints that the robot counts from 1 are counted from 0 in the file."""
    joints = [plain(name) for name in joints]
    names = [plain(column.name) for column in columns]
    first = next((name[:-1] for name in joints if name.endswith('1')), '')
    if not first or f'{first}0' in joints or not all(name.startswith(first) for name in joints):
        return False
    last = joints[-1]
    held = [[word in re.split(r'[^\w]|_(?=[^\d])|(?<=\d)_', name) or
             name.startswith(word) or name.endswith(word)
             for name in names] for word in (f'{first}0', last)]  # fmt: skip
    return any(held[0]) and not any(held[1])


def _plain_rows(columns: Sequence[Column]) -> tuple[list[Column], int]:
    """Return the columns without rows that hold no sample of their own, and their repetition."""
    finite = np.ones(len(columns[0].values), bool)
    for column in columns:
        known = np.isfinite(column.values)
        if known.mean() > 0.5:
            finite &= known
    moving = [c.values[finite] for c in columns
              if np.isfinite(c.values[finite]).all() and not evidence.is_clock(c.values[finite])
              and not evidence.is_constant(c.values[finite])]  # fmt: skip
    rows = evidence.repetition(moving) if moving and finite.sum() > 3 else 1
    kept = [replace(column, values=column.values[finite][::rows]) for column in columns]
    return kept, rows


def _clock(columns: Sequence[Column], names: Sequence[Name]) -> int | None:
    """Return the column of the time: by name and numbers, else by its numbers alone."""
    clocks = [k for k, column in enumerate(columns) if evidence.is_clock(column.values)]
    named = [k for k in clocks if names[k].quantity == 'time']
    if named:
        return named[0]
    free = [
        k for k in clocks
        if not names[k].quantity and not evidence.is_counter(columns[k].values)
    ]  # fmt: skip
    return free[0] if free else None


def _roles(robot: Robot, columns: list[Column], names: list[Name], time: Array) -> list[Role]:
    arm = sum(not is_apart(name) for name in robot.joint_names)
    groups = named_groups(columns, names)
    sizes = [len(g) for g in groups if g.name.quantity == 'position']
    count = next((n for n in (robot.n, arm) if n in sizes), max(sizes, default=arm))
    roles = roles_of(groups, time, count)
    if roles:
        return roles
    unnamed = [
        column for column, name in zip(columns, names)
        if not name.quantity and not evidence.is_constant(column.values)
        and not evidence.is_counter(column.values)
    ]  # fmt: skip
    for n in dict.fromkeys((robot.n, arm)):
        roles = roles_of(unnamed_groups(unnamed, [n]), time, n)
        if roles:
            told = 'the columns have no names: their order is that of the joints'
            return [replace(role, doubt=role.doubt or told) for role in roles]
    return []


def _assembled(
    robot: Robot, path: Path, files: JointFiles | None, columns: list[Column],
    kept: list[Column], clock: int | None, roles: list[Role], locked: dict[str, float],
    notes: list[str], names: list[Name], time: Array,
) -> Guess:  # fmt: skip
    """Return the guess of the roles: joints, units, drive gains."""
    by_channel = {role.channel: role for role in roles}
    joints = match(robot, by_channel['position'].group.labels)
    if joints is None:
        raise DataError(
            f'{path}: {len(by_channel["position"].group)} positions, which are those of no '
            f'joints of the robot ({", ".join(robot.joint_names)})',
            code='unknown_columns',
        )
    ordered: dict[str, Group] = {}
    doubts: dict[str, str] = {}
    for role in roles:
        own = match(robot, role.group.labels) or joints
        if own.names != joints.names:
            doubts[role.channel] = 'its columns are named unlike those of the position'
            own = joints
        ordered[role.channel] = role.group.pick(own.order)
    if joints.doubt:
        doubts['joints'] = joints.doubt
    step = evidence.clock_step(time) if clock is not None else np.nan
    spare = [g for g in named_groups(kept, names) if len(g) == len(joints.order)]
    sizes = channel_sizes(
        robot, joints.names, ordered, time, step, _time_unit(clock, names), spare
    )
    effort = next((role.effort for role in roles if role.channel == 'torque'), '')
    whole = dict(locked) | joints.locked
    if effort:
        compared = _compared(robot, joints, ordered, sizes, time)
        sizes = torque_sizes(robot, joints.names, ordered, effort, compared, sizes)
    doubts |= {key: why for key, why in sizes.doubts.items() if key not in doubts}
    rate = None
    if clock is None:
        rate, why = sizes.rate
        if why:
            doubts['rate_hz'] = why
    return Guess(
        robot=robot,
        path=path,
        assignments=_assignments(columns, kept, clock, roles, ordered, joints, sizes, names),
        locked=whole,
        rate_hz=rate,
        drive_gains=sizes.drive_gains,
        law=effort if effort in ('duty', 'voltage') else '',
        files=files,
        doubts=doubts,
        notes=(*notes, *sizes.notes, f'the joints are matched by {joints.reason}'),
    )


def _time_unit(clock: int | None, names: Sequence[Name]) -> str:
    return names[clock].unit if clock is not None and names[clock].unit in units.TIME else ''


def _compared(
    robot: Robot, joints: Joints, ordered: dict[str, Group], sizes: Sizes, time: Array
) -> ByModel | None:
    """Return the torques against the model, in recorded units; None where it cannot be done."""
    if 'position' in sizes.doubts or 'time' in sizes.doubts or sizes.time_factor is None:
        return None
    n = robot.n
    q, tau = np.zeros((len(time), n)), np.zeros((len(time), n))
    at = [robot.joint_names.index(name) for name in joints.names]
    q[:, at] = ordered['position'].values * sizes.factors('position')
    for name, value in joints.locked.items():
        if name in robot.joint_names:
            q[:, robot.joint_names.index(name)] = value
    tau[:, at] = ordered['torque'].values
    found = against_model(robot, time * sizes.time_factor, q, tau)
    return None if found is None else replace(found, scale=found.scale[at], r2=found.r2[at])


def _assignments(
    columns: list[Column], kept: list[Column], clock: int | None, roles: list[Role],
    ordered: dict[str, Group], joints: Joints, sizes: Sizes, names: list[Name],
) -> tuple[Assignment, ...]:  # fmt: skip
    """Return one assignment for each column of the file."""
    whole = dict(zip((id(column) for column in kept), columns))
    found: dict[int, Assignment] = {}
    if clock is not None:
        told = 'it only grows, by equal steps'
        unit = sizes.units.get('time', '')
        found[id(kept[clock])] = Assignment(
            whole[id(kept[clock])], 'time', '', unit, 1.0, told, sizes.doubts.get('time', '')
        )
    for role in roles:
        group = ordered[role.channel]
        scales = sizes.scales.get(role.channel, np.ones(len(group)))
        for column, joint, scale in zip(group.columns, joints.names, scales):
            found[id(column)] = Assignment(
                whole[id(column)], role.channel, joint, sizes.units.get(role.channel, ''),
                float(scale), role.reason, role.doubt or sizes.doubts.get(role.channel, ''),
            )  # fmt: skip
    for column, name in zip(kept, names):
        if id(column) not in found:
            told = 'it never changes' if evidence.is_constant(column.values) else (
                f'taken for {name.quantity}, which is not needed'
                if name.quantity else 'nothing tells what it is'
            )  # fmt: skip
            found[id(column)] = Assignment(whole[id(column)], reason=told)
    return tuple(found[id(column)] for column in kept)
