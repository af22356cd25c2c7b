"""The input and the output of a format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from robot_id.exceptions import DataError
from robot_id.methods.parameters import parameters_for, robot_for
from robot_id.methods.result import Result
from robot_id.robot import Robot
from robot_id.texts import comment

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Request:
    """
    The input of a format.

    :param result: what was identified.
    :param name: the robot as the user named it: a shipped name or a file.
    :param source: the file of the result.
    :param robot: the Robot; None only for formats that need none and a robot that is not at hand.
    """

    result: Result
    name: str
    source: Path
    robot: Robot | None = None

    @property
    def loaded(self) -> Robot:
        """The Robot with the friction of the result, in formats that need one."""
        assert self.robot is not None
        return robot_for(self.robot, self.result)

    @property
    def origin(self) -> str:
        """The method and the file."""
        return f'{self.result.method}, {self.source.name}'

    def controller_model(self) -> tuple[Robot, Array]:
        """Return robot and (b,) parameters; refuse those that no robot should move with."""
        robot = self.loaded
        if not self.result.converged:
            raise DataError(
                f'{self.source}: {self.result.method} did not converge, a controller must not '
                'use it'
            )
        return robot, parameters_for(robot, self.result)


@dataclass(frozen=True)
class Exported:
    """
    The output of a format.

    :param text: the file.
    :param others: more files beside it, by the ending that takes the place of its own ('.h').
    :param folder: the files of a format that is a folder, by name; then there is no text.
    :param notes: what the format cannot hold, one line each.
    :param check: takes the text of the finished file, of a folder its path, reads it back and
        returns one line on how well it agrees, or raises; None if there is nothing to compare.
    """

    text: str
    others: dict[str, str] = field(default_factory=dict)
    folder: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    check: Callable[[str], str] | None = None


def rows(result: Result) -> list[tuple[str, float, float, float, bool]]:
    """Return name, value, deviation, percent deviation and flag of every parameter."""
    flags = [True] * len(result.names) if result.essential is None else result.essential
    return list(zip(result.names, result.values, result.std, result.percent_std, flags))


def head(result: Result, note: str) -> str:
    """Return two lines of comment that say what the file is."""
    return (
        f'# {len(result.names)} base parameters of {comment(result.robot)} by '
        f'{comment(result.method)}\n# {comment(note)}\n'
    )


def dump(content: Any) -> str:
    """Return YAML in the order of the content."""
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=99)
