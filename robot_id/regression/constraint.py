"""
What a solution must obey beyond least squares, such as physical consistency.

A new constraint is one file in this room and one line in `CONSTRAINTS`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.model import Robot

if TYPE_CHECKING:
    from robot_id.regression.least_squares import Solution

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# name: 'module:function', function(robot) -> Constraint, imported only when it is used.
CONSTRAINTS: dict[str, str] = {}


class Constraint(Protocol):
    """A set of parameters to which a solution is confined."""

    def solve(self, R: Array, rows: int, names: Sequence[str], kept: Flags) -> Solution:
        """
        Solve min ||Y - W chi|| within the set.

        :param R: (b + 1, b + 1) factor of [W Y], weights included, full rank in the kept columns.
        :param rows: number r of equations behind it.
        :param names: the b parameter names.
        :param kept: (b,) parameters to solve for, the others are held at zero.
        """
        ...


def constraint_for(name: str, robot: Robot) -> Constraint | None:
    """Return the constraint of that name for a robot, None for 'none'."""
    if name == 'none':
        return None
    if name not in CONSTRAINTS:
        known = ('none', *CONSTRAINTS)
        raise OptionError(
            f"constraint: no choice '{name}', {did_you_mean(name, known)}", key='constraint'
        )
    module, _, function = CONSTRAINTS[name].partition(':')
    constraint: Constraint = getattr(importlib.import_module(module), function)(robot)
    return constraint
