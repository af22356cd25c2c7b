"""Which group is which channel: by its name, held against its numbers; without one by these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.tasks.guessing.evidence import DERIVATIVE, derivative, is_constant, likeness
from robot_id.tasks.guessing.evidence import roughness as rough
from robot_id.tasks.guessing.grouping import Group

Array = NDArray[np.float64]
# Two channels are measurement and reference of one motion from this correlation on.
ALIKE = 0.99
# What drives a joint, the most useful first.
EFFORTS = ('torque', 'current', 'duty', 'voltage')


@dataclass(frozen=True)
class Role:
    """
    What a group is taken for.

    :param channel: of a mapping, '' where it is not used.
    :param effort: of a torque: torque, current, duty or voltage.
    """

    group: Group
    channel: str
    reason: str
    doubt: str = ''
    effort: str = ''


def roles_of(groups: Sequence[Group], time: Array, count: int) -> list[Role]:
    """
    Return the channel of each group that has one.

    :param time: (N,) the clock as recorded, row numbers without one.
    :param count: columns of a whole channel.
    """
    usable = [group for group in groups if not all(map(_still, group.columns))]
    measured = [group for group in usable if group.name.role != 'error']
    position = _best(measured, 'position', count)
    found: list[Role] = []
    unknown = [group for group in usable if not group.name.quantity and len(group) == count]
    if position is None:
        position, found = _unnamed_position(unknown, time)
        if position is None:
            return []
    else:
        found = [Role(position, 'position', f"the name '{position.columns[0].label}'")]
    used = {id(role.group) for role in found}
    for channel, quantity, role in (
        ('velocity', 'velocity', ''),
        ('reference_position', 'position', 'reference'),
        ('reference_velocity', 'velocity', 'reference'),
        ('reference_acceleration', 'acceleration', 'reference'),
        ('temperature', 'temperature', ''),
    ):
        taken = _named(measured, quantity, role, len(position), used, position.name.side)
        if taken is not None:
            used.add(id(taken))
            found.append(Role(taken, channel, f"the name '{taken.columns[0].label}'"))
    effort = _effort(measured, len(position), used)
    if effort is not None:
        used.add(id(effort.group))
        found.append(effort)
    left = [group for group in unknown if id(group) not in used and len(group) == len(position)]
    found += _by_numbers(left, found, position, time)
    return [_held_against(role, position, time) for role in found]


def _still(column: object) -> bool:
    return is_constant(column.values)  # type: ignore[attr-defined]


def _best(groups: Sequence[Group], quantity: str, count: int) -> Group | None:
    """Return the measured group of a quantity, that of the joints before that of the motors."""
    named = [group for group in groups if group.name.quantity == quantity]
    if not named:
        return None

    def rank(group: Group) -> tuple[bool, bool, bool, int]:
        role, side = group.name.role, group.name.side
        return (
            role == 'reference', len(group) != count, side == 'motor', abs(len(group) - count)
        )  # fmt: skip

    return min(named, key=rank)


def _named(
    groups: Sequence[Group], quantity: str, role: str, size: int, used: set[int], side: str
) -> Group | None:
    fitting = [
        group
        for group in groups
        if group.name.quantity == quantity
        and (group.name.role == 'reference') == (role == 'reference')
        and len(group) == size
        and id(group) not in used
    ]
    return min(fitting, key=lambda group: group.name.side != side, default=None)


def _effort(groups: Sequence[Group], size: int, used: set[int]) -> Role | None:
    """Return what drives the joints: measured before commanded, torque before current."""
    for wanted in (False, True):
        for quantity in EFFORTS:
            for group in groups:
                name = group.name
                if name.quantity != quantity or len(group) != size or id(group) in used:
                    continue
                if (name.role == 'reference') != wanted:
                    continue
                doubt = f'a commanded {quantity}, none was measured' if wanted else ''
                reason = f"the name '{group.columns[0].label}'"
                return Role(group, 'torque', reason, doubt, quantity)
    return None


def _pairs(a: Group, b: Group, time: Array) -> float:
    """Return the median r^2 of b as the derivative of a, joint by joint."""
    each = [derivative(x, v, time)[1] if not is_constant(x) and not is_constant(v) else np.nan
            for x, v in zip(a.values.T, b.values.T)]  # fmt: skip
    return float(np.nanmedian(each)) if np.isfinite(each).any() else 0.0


def _unnamed_position(groups: list[Group], time: Array) -> tuple[Group | None, list[Role]]:
    """Return the position among groups without names, with velocity and reference if any."""
    if not groups:
        return None, []
    chains = [
        (_pairs(a, b, time), i, j)
        for i, a in enumerate(groups)
        for j, b in enumerate(groups)
        if i != j
    ]
    good = [(i, j) for r2, i, j in chains if r2 > DERIVATIVE]
    speeds = {j for _, j in good}
    starts = [i for i, _ in good if i not in speeds]
    if starts:
        first = min(starts)
        reason = 'another group of columns is its derivative'
        return groups[first], [Role(groups[first], 'position', reason)]
    smooth = min(groups, key=lambda group: float(np.median([rough(x) for x in group.values.T])))
    # A reference is smoother than what was measured, which loggers write first.
    smooth = next(
        group for group in groups
        if np.nanmedian([likeness(x, y) for x, y in zip(smooth.values.T, group.values.T)]) > ALIKE
    )  # fmt: skip
    doubt = 'the smoothest of the columns without names'
    return smooth, [Role(smooth, 'position', doubt, doubt)]


def _by_numbers(
    groups: list[Group], found: list[Role], position: Group, time: Array
) -> list[Role]:
    """Return channels of groups without names: derivative, reference, then what drives."""
    have = {role.channel for role in found}
    more: list[Role] = []
    for group in groups:
        alike = np.nanmedian([likeness(x, y) for x, y in zip(position.values.T, group.values.T)])
        slope = _pairs(position, group, time)
        if slope > DERIVATIVE and 'velocity' not in have:
            more.append(
                Role(group, 'velocity', f'the derivative of the position (r2 {slope:.2f})')
            )
        elif slope > DERIVATIVE and 'reference_velocity' not in have:
            doubt = 'a second derivative of the position: which one was measured is not told'
            more.append(Role(group, 'reference_velocity', 'like the velocity', doubt))
        elif alike > ALIKE and 'reference_position' not in have:
            doubt = 'like the position: which one was measured is not told by names'
            more.append(
                Role(group, 'reference_position', f'like the position ({alike:.3f})', doubt)
            )
        elif 'torque' not in have:
            doubt = 'the columns that are left'
            more.append(Role(group, 'torque', doubt, doubt, 'torque'))
        else:
            continue
        have.add(more[-1].channel)
    return more


def _held_against(role: Role, position: Group, time: Array) -> Role:
    """Return a role with a doubt where the numbers contradict its name."""
    if role.channel == 'velocity':
        r2 = _pairs(position, role.group, time)
        if r2 < DERIVATIVE:
            told = f'it is not the derivative of the position (r2 {r2:.2f})'
            return replace(role, doubt=role.doubt or told)
        return replace(role, reason=f'{role.reason}, the derivative of the position')
    if role.channel == 'reference_position':
        pairs = zip(position.values.T, role.group.values.T)
        alike = float(np.nanmedian([likeness(x, y) for x, y in pairs]))
        if alike < ALIKE - 0.1:
            told = f'it is not like the position ({alike:.2f})'
            return replace(role, doubt=role.doubt or told)
    return role
