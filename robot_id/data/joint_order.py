"""Joints of a message, matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from robot_id.data.border import LARGEST
from robot_id.exceptions import DataError, OptionError, did_you_mean

Array = NDArray[np.float64]


class OtherJoints(DataError):
    """A message of joints that are not the robot's, such as those of a gripper on its topic."""


class JointMatcher:
    """
    Brings the arrays of messages into the robot's order of joints.

    The order of the last names is kept, so a stream of messages costs one comparison each.

    :param wanted: names of the joints, in the robot's order.
    """

    def __init__(self, wanted: Sequence[str]) -> None:
        self.wanted = tuple(wanted)
        self._names: list[str] | None = None
        self._index: list[int] = []
        self._same = False

    def match(self, names: Sequence[str]) -> None:
        """
        Prepare for messages with these names; extra joints are ignored.

        :raises DataError: when a joint is missing or named twice.
        :raises OtherJoints: when none of them is the robot's.
        """
        names = list(names)
        if names == self._names:
            return
        if names and not set(names) & set(self.wanted):
            raise OtherJoints(f'none of the robot (the message has {", ".join(names)})')
        for name in self.wanted:
            if names.count(name) != 1:
                what = 'is missing' if name not in names else 'appears more than once'
                raise DataError(
                    f"joint '{name}' {what} (the message has {', '.join(names)})", joint=name
                )
        self._index = [names.index(name) for name in self.wanted]
        self._same = self._index == list(range(len(names)))
        self._names = names

    def take(self, values: Sequence[float], what: str = 'position') -> Array:
        """
        Return (n,) values in the robot's order.

        :raises DataError: on a wrong length, or a value that is not finite or that no robot has.
        """
        assert self._names is not None
        if len(values) != len(self._names):
            raise DataError(
                f'{len(values)} values of {what} for {len(self._names)} joints', code='joint_count'
            )
        x = np.array(values if self._same else [values[i] for i in self._index], dtype=float)
        for name, value in zip(self.wanted, x.tolist()):
            if not -LARGEST <= value <= LARGEST:
                wrong = (
                    (f'{value:g}, must be within +-{LARGEST:g}')
                    if isfinite(value)
                    else 'not finite'
                )
                raise DataError(
                    f"{what} of joint '{name}' is {wrong}", joint=name, value=value, bound=LARGEST
                )
        return x


def joint_order(joint_names: Sequence[str], given: Sequence[str], parameter: str) -> list[int]:
    """
    Return where each joint of the robot stands in a list that a parameter gives.

    :param given: all joints of the robot in any order; empty for the robot's own order.
    :raises OptionError: when it is not exactly the robot's joints.
    """
    if not given:
        return list(range(len(joint_names)))
    for name in given:
        if name not in joint_names:
            hint = did_you_mean(name, joint_names)
            raise OptionError(
                f"parameter {parameter}: the robot has no joint '{name}', {hint}",
                joint=name,
                key=parameter,
            )
    for name in joint_names:
        if list(given).count(name) != 1:
            what = 'is missing' if name not in given else 'appears more than once'
            raise OptionError(
                f"parameter {parameter}: joint '{name}' {what}", joint=name, key=parameter
            )
    return [list(given).index(name) for name in joint_names]
