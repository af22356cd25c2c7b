"""
Constraints on a least-squares solution, such as physical consistency.

`regression.physical.constraint` is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robot_id.regression.least_squares import Solution

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


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
