"""
Friction that grows with the torque, and what cannot be known of it.

Loaded teeth rub with Fl_j sign(dq_j) |tau_j|. Which torque presses them is not known: that behind
the gear, that of the motor, which has the friction too, or one between. The two differ by Fl_j
times the friction, and of the part that grows with the load Fl_j^2 tau_j is left: a drive gain
that is wrong by Fl_j^2, so all bodies look heavier by that share, and no motion tells (5 % of
friction: 0.25 % of the mass). The middle of both is fitted, and the distance between the two
counts as a deviation, as of a value that may lie anywhere between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_id.tasks.payload.solution import Solution, solve

Array = NDArray[np.float64]
# Where the torque that presses the teeth is taken: behind them, in the middle, at the motor.
BEHIND, MIDDLE, MOTOR = 0.0, 0.5, 1.0


class Design(Protocol):
    """Rows for each run (M, n, p), given the unknowns that friction of the load needs."""

    def __call__(self, x: Array | None, side: float) -> list[Array]:
        """Return the rows; without columns for this friction where x is None."""
        ...


def with_load_friction(
    design: Design, y: Sequence[Array], last: int, doubt: bool = True
) -> tuple[Solution, list[Array]]:
    """
    Solve without the friction of the load, with it, and with the torque that it adds itself.

    :param last: unknowns at the end that are loads.
    :param doubt: what the friction of the load moved counts as a deviation; if the arm is not
        fitted too, little else shows that this friction is uncertain.
    :return: the solution and the rows behind it.
    """
    without = solve(design(None, BEHIND), y, deviations=False).x
    x = solve(design(without, BEHIND), y, deviations=False).x
    A = design(x, MIDDLE)
    found = solve(A, y, last)
    half = solve(design(x, MOTOR), y, deviations=False).x - found.x
    # Twice this half lies between the sides; the variance of an even spread is a twelfth.
    covariance = found.covariance + np.outer(half, half) / 3.0
    if doubt:
        moved = found.x[-last:] - without[-last:]
        covariance[-last:, -last:] += np.outer(moved, moved)
    return replace(found, covariance=covariance), A
