"""Which column is which joint of the robot, and which joints do not move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from robot_id.robot import Robot
from robot_id.tasks.guessing.naming import plain
from robot_id.tasks.guessing.words import APART


@dataclass(frozen=True)
class Joints:
    """
    Columns of a group, joint by joint.

    :param order: (n,) column of each joint in `names`.
    :param names: joints of the robot that were recorded, in the robot's order.
    :param locked: joints that were not, with their position.
    :param doubt: '' where it is sure.
    """

    order: tuple[int, ...]
    names: tuple[str, ...]
    locked: dict[str, float] = field(default_factory=dict)
    reason: str = ''
    doubt: str = ''


def is_apart(joint: str) -> bool:
    """Whether a joint is called as those of grippers and wheels are."""
    return any(word in plain(joint) for word in APART)


def match(robot: Robot, labels: Sequence[str]) -> Joints | None:
    """
    Return which joint each column is, None where the columns are none of this robot's joints.

    :param labels: of the columns: names, numbers or words.
    """
    names = robot.joint_names
    flat = {plain(name): name for name in names}
    called = [flat.get(plain(label)) for label in labels]
    if sum(name is not None for name in called) >= max(1, len(labels) // 2):
        known = [(name, k) for k, name in enumerate(called) if name is not None]
        if len({name for name, _ in known}) == len(known):
            return _by_name(robot, dict(known), len(labels))
    numbered = all(label.isdigit() for label in labels) and len(set(labels)) == len(labels)
    order = sorted(range(len(labels)), key=lambda k: int(labels[k])) if numbered else None
    return _in_order(robot, list(order or range(len(labels))), numbered and _runs_on(labels))


def _runs_on(labels: Sequence[str]) -> bool:
    numbers = sorted(int(label) for label in labels)
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] in (0, 1)


def _by_name(robot: Robot, known: dict[str, int], columns: int) -> Joints:
    names = tuple(name for name in robot.joint_names if name in known)
    left = [name for name in robot.joint_names if name not in known]
    strange = [name for name in left if not is_apart(name)]
    doubt = ''
    if strange:
        doubt = f'{", ".join(strange)}: not recorded, locked at the position given here'
    elif len(known) < columns:
        doubt = f'{columns - len(known)} columns are of no joint of the robot'
    order = tuple(known[name] for name in names)
    return Joints(order, names, _rest(robot, left), 'the names of the joints', doubt)


def _in_order(robot: Robot, order: list[int], numbered: bool) -> Joints | None:
    """Return the joints in the order of the robot, tools and wheels last."""
    arm = [name for name in robot.joint_names if not is_apart(name)]
    count, reason = len(order), 'their numbers' if numbered else 'the order of the columns'
    if count == robot.n:
        names, doubt = list(robot.joint_names), ''
    elif count == len(arm):
        names, doubt = arm, ''
    elif 0 < count < len(arm):
        names = arm[:count]
        doubt = f'{count} columns for {len(arm)} joints: the first ones are taken'
    elif count > len(arm) and arm:
        names, order = arm, order[: len(arm)]
        doubt = f'{count} columns for {len(arm)} joints: the first columns are taken'
    else:
        return None
    if not numbered and not doubt and count > 1:
        doubt = 'the columns are taken in the order of the joints'
    left = [name for name in robot.joint_names if name not in names]
    return Joints(tuple(order), tuple(names), _rest(robot, left), reason, doubt)


def _rest(robot: Robot, joints: Sequence[str]) -> dict[str, float]:
    """Return joints with the position next to zero within their limits."""
    found = {}
    for name in joints:
        j = robot.joint_names.index(name)
        found[name] = float(np.clip(0.0, robot.limits.lower[j], robot.limits.upper[j]))
    return found
