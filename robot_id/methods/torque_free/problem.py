"""The servo loop of every run as a function of the unknowns, with its sensitivities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.kernels.tree import tree_of
from robot_id.dynamics.simulation.servo.drives import DRIVES, Drive
from robot_id.dynamics.simulation.servo.loop import (
    BIAS,
    DONE,
    FIRST_TERM,
    Unknowns,
    servo_loop,
)
from robot_id.methods.torque_free.servo_run import ServoRun
from robot_id.methods.torque_free.unknowns import Unknown
from robot_id.robot import Robot
from robot_id.robot.friction.budget import TERMS

Array = NDArray[np.float64]
# Beyond this position (rad or m past the range of the data) a simulation has diverged.
LARGEST_EXCURSION = 30.0
# How far the first state may be from the measured one: standard deviations, rad and rad/s.
FIRST_POSITION_STD, FIRST_VELOCITY_STD = 0.003, 0.2


class Problem:
    """
    Simulated positions and their sensitivities.

    :param robot: its kinematics and gravity.
    :param inertia: (nb, 10) inertial parameters at the start.
    :param drive: the model of the drives.
    :param numbers: (n, K) numbers of the joints at the start.
    :param unknowns: what the columns of the sensitivities belong to.
    :param runs: the recordings.
    :param directions: (m, nb, 10) free inertial parameters, the last m columns.
    :param free_start: whether the first state of each run has columns of its own, 2 n behind the
        others.
    """

    def __init__(
        self,
        robot: Robot,
        inertia: Array,
        drive: Drive,
        numbers: Array,
        unknowns: Sequence[Unknown],
        runs: Sequence[ServoRun],
        directions: Array | None = None,
        free_start: bool = True,
    ) -> None:
        self.robot, self.drive, self.runs = robot, drive, tuple(runs)
        self.tree = tree_of(robot)
        self._kind = list(DRIVES).index(drive.name)
        self.inertia, self.numbers, self.unknowns = inertia, numbers, tuple(unknowns)
        nb = self.tree.parent.shape[0]
        self.directions = np.zeros((0, nb, 10)) if directions is None else directions
        self.free_start = free_start
        self.simulations = 0
        low = min(float(run.measured.min()) for run in self.runs)
        high = max(float(run.measured.max()) for run in self.runs)
        self.largest = max(abs(low), abs(high)) + LARGEST_EXCURSION
        entries = [(j, u.place, k) for k, u in enumerate(self.unknowns) for j in u.joints]
        self._entries = [np.array([e[i] for e in entries], np.int64) for i in range(3)]

    @property
    def shared(self) -> int:
        """Columns that all runs share."""
        return len(self.unknowns) + len(self.directions)

    @property
    def own(self) -> int:
        """Columns of the first state of one run."""
        return 2 * self.robot.n if self.free_start else 0

    @property
    def size(self) -> int:
        """All columns."""
        return self.shared + self.own * len(self.runs)

    def place(self, index: int) -> slice:
        """Return the columns of the first state of a run."""
        first = self.shared + index * self.own
        return slice(first, first + self.own)

    def inertial_names(self) -> list[str]:
        """Return the names of the free inertial parameters."""
        places = [np.unravel_index(int(np.argmax(np.abs(d))), d.shape) for d in self.directions]
        return [self.robot.standard_names[int(self.robot.inertial_index[at])] for at in places]

    def start(self) -> Array:
        """Return the inner values at the start, (size,)."""
        inner = [u.inner(u.start) for u in self.unknowns]
        return np.array([*inner, *np.zeros(self.size - len(inner))])

    def bounds(self) -> tuple[Array, Array]:
        """Return the bounds of the inner values."""
        free = np.full(self.size, np.inf)
        low, high = -free, free.copy()
        for k, u in enumerate(self.unknowns):
            low[k], high[k] = u.bounds
        return low, high

    def table(self, x: Array) -> Array:
        """Return the (n, K) numbers at inner values."""
        numbers = self.numbers.copy()
        for u, inner in zip(self.unknowns, x):
            numbers[list(u.joints), u.place] = u.value(float(inner))
        return numbers

    def bodies(self, x: Array) -> Array:
        """Return the (nb, 10) inertial parameters at inner values."""
        count = len(self.unknowns)
        return self.inertia + np.tensordot(x[count : self.shared], self.directions, 1)

    def simulate(self, x: Array, index: int, sensitive: bool) -> tuple[Array, Array] | None:
        """
        Return (N, n) positions and (N, n, shared + own) sensitivities of a run; None: diverged.

        :param sensitive: without, the sensitivities are (0, n, 0).
        """
        run, n = self.runs[index], self.robot.n
        numbers, bodies = self.table(x), self.bodies(x)
        N, p = len(run.measured), self.shared + self.own if sensitive else 0
        q, v = run.position - numbers[:, BIAS], run.velocity.copy()
        first_q, first_v = np.zeros((n, p)), np.zeros((n, p))
        own = x[self.place(index)]
        if self.free_start:
            q = q + FIRST_POSITION_STD * own[:n]
            v = v + FIRST_VELOCITY_STD * own[n:]
        factor = np.array(
            [u.slope(float(xi)) for u, xi in zip(self.unknowns, x) for _ in u.joints]
        )
        if sensitive:
            for k, u in enumerate(self.unknowns):
                if u.place == BIAS:
                    first_q[list(u.joints), k] = -u.slope(float(x[k]))
            if self.free_start:
                at = np.arange(n)
                first_q[at, self.shared + at] = FIRST_POSITION_STD
                first_v[at, self.shared + n + at] = FIRST_VELOCITY_STD
        external = np.array([t.slopes(1.0, -0.5, 0.5)[1] != 0.0 for t in TERMS.values()])
        terms = numbers[:, FIRST_TERM : FIRST_TERM + len(TERMS)]
        unknowns = Unknowns(
            self._entries[0], self._entries[1], self._entries[2], factor, len(self.unknowns),
            self.directions, first_q, first_v, bool(np.any(terms[:, external])),
        )  # fmt: skip
        position = np.empty((N, n))
        sensitivity = np.empty((N if sensitive else 0, n, p))
        status, _, _ = servo_loop(
            self.tree, bodies, self._kind, numbers, run.inputs, unknowns, self.largest, q,
            v, position, sensitivity,
        )  # fmt: skip
        self.simulations += 1
        if status != DONE or not np.isfinite(position).all():
            return None
        if sensitive and not np.isfinite(sensitivity).all():
            return None
        return position, sensitivity

    def priors(self, x: Array) -> tuple[Array, Array]:
        """Return (r,) residuals of the priors and their (r, shared) derivatives."""
        rows, values = [], []
        for k, u in enumerate(self.unknowns):
            if u.prior is not None:
                mean, std = u.prior
                row = np.zeros(self.shared)
                row[k] = u.slope(float(x[k])) / std
                rows.append(row)
                values.append((u.value(float(x[k])) - mean) / std)
        return np.array(values), np.array(rows).reshape(-1, self.shared)
