"""
The regressor of all joints side by side, each with the columns that act on it.

W_j holds only the columns of parameters that act on joint j at all; they are found once, on random
states. So a wrist joint of a six-axis arm is filtered and factored with a few columns, not all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.dynamics.acting_rows import acting_columns
from robot_id.dynamics.temperature import feels_temperature, warm_columns
from robot_id.robot import Robot

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class WideRegressor:
    """
    Columns [W_1 .. W_n Y_1 .. Y_n], so that filters treat W and Y alike; more may follow.

    :param robot: the Robot.
    :param coulomb_slope: slope of the smooth friction; None for sign(dq).
    """

    def __init__(self, robot: Robot, coulomb_slope: float | None) -> None:
        self.robot = robot
        self.coulomb_slope = coulomb_slope
        self.names: tuple[str, ...] = tuple(robot.base.names)
        self.n: int = robot.n
        self.columns = acting_columns(robot)
        b = len(self.names)
        self._flat = np.concatenate([j * b + columns for j, columns in enumerate(self.columns)])
        self._ends = np.cumsum([0, *(len(columns) for columns in self.columns)])

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self._flat) + self.n

    def __call__(
        self, q: Array, dq: Array, ddq: Array, torque: Array, temperature: Array | None = None
    ) -> Array:
        """(N, width) columns of N states, all (N, n); temperatures where they are measured."""
        W = dynamics.regressor(self.robot, q, dq, ddq, coulomb_slope=self.coulomb_slope)
        if temperature is not None and feels_temperature(self.robot):
            W += warm_columns(self.robot, dq, temperature, self.coulomb_slope)
        acting = W.reshape(W.shape[0], -1).take(self._flat, axis=1)
        return np.concatenate([acting, torque], axis=1)

    def of_joint(self, rows: Array, joint: int) -> tuple[Array, Array]:
        """Return W_j (r, b_j) and Y_j (r,) of rows."""
        first, last = self._ends[joint], self._ends[joint + 1]
        return rows[:, first:last], rows[:, len(self._flat) + joint]

    def places(self, joint: int) -> Indices:
        """Return the places of W_j, Y_j and further columns of this joint (such as dY_j/dt)."""
        own = np.arange(self._ends[joint], self._ends[joint + 1])
        return np.concatenate([own, len(self._flat) + joint + np.array([0, self.n])])

    def predicted(self, rows: Array, chi: Array) -> Array:
        """(r, n) the torques W chi of rows."""
        predicted = [
            self.of_joint(rows, j)[0] @ chi[columns] for j, columns in enumerate(self.columns)
        ]
        return np.stack(predicted, axis=1)

    def measured(self, rows: Array) -> Array:
        """(r, n) the torques Y of rows."""
        return rows[:, len(self._flat) : len(self._flat) + self.n]
