"""
Detection of a load on the last link while the robot moves, window by window.

The tare holds the equations of earlier windows without a load. Both are fitted together:
Y_t = W_t chi + V_t f_t and Y = W (chi + G p) + V f. Both share the bodies chi; friction f drifts,
so each has its own; p is the load. What neither determines does not count as load, and the mass
can be found although no single parameter of the robot is known well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.control.learning.essential import residual_weights, without_joints
from robot_id.control.runtime.payload import MASS, LoadFit, PayloadEstimate, inertial_parameters
from robot_id.json_numbers import finite_or_none
from robot_id.regression.solvers.triangular import RANK, JointFactors, column_sizes, triangle
from robot_id.robot import Robot
from robot_id.robot.payload import payload_columns

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Squares of the torques that only a load explains, relative to those of the residual. Real robots
# differ from their models: windows of 1 to 8 s without a load, of EMPS, TX40 and UR10e, gave up to
# 0.8. A load is noticed beyond NOTICED; windows of a tare are apart by less than ALIKE.
NOTICED, ALIKE = 2.0, 0.5
# The reference is taken as the motion. With a wrong model the robot leaves it, and the torques are
# wrong by a part of what the model missed: it grows with the square of the speed of the motion
# beside that of the loop.
ASTRAY = 0.05
# What a window counts in the tare when another one follows it.
MEMORY = 0.8
# Equations that a window must have for each parameter.
EQUATIONS_EACH = 2


@dataclass(frozen=True)
class WeightedWindows:
    """
    One or more windows: [W Y] in triangular form, rows of each joint in units of its residual.

    :param R: (k, b + 1).
    :param rows: number of equations behind it.
    :param residual: (n,) what is left unexplained of each joint, rms, 0 where it was at rest.
    """

    R: Array
    rows: float
    residual: Array

    def followed_by(self, other: WeightedWindows) -> WeightedWindows:
        """Return both, with less weight on the earlier one."""
        R = triangle(np.concatenate([np.sqrt(MEMORY) * self.R, other.R]))
        old, new = MEMORY * self.rows, other.rows
        mean = (old * self.residual**2 + new * other.residual**2) / (old + new)
        return WeightedWindows(R, old + new, np.sqrt(mean))


@dataclass(frozen=True)
class LoadWindow:
    """
    A window.

    :param factors: without joints at rest.
    :param residual: (n,) rms residual of each joint, 0 where it was at rest.
    """

    factors: JointFactors
    residual: Array

    def weighted(self, least: Array | float = 0.0) -> WeightedWindows:
        """
        Return its rows in units of the residuals.

        :param least: (n,) lower bound of the residuals.
        """
        unit = np.maximum(self.residual, least)
        weights = np.where(self.residual > 0.0, 1.0 / np.where(unit > 0.0, unit, 1.0), 0.0)
        rows = float(self.factors.rows.sum())
        return WeightedWindows(self.factors.stack(weights), rows, self.residual)


class PayloadWatch:
    """
    Compares every window with the robot's own, the tare.

    The tare begins with two similar windows. It takes in windows that are like it, and lags by
    one, so that a window in which a load has just been attached is not part of it.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._columns = payload_columns(robot)
        self._inertial = inertial_parameters(robot)
        self._tare: WeightedWindows | None = None
        # The last window, and the last one without a load, which is not yet in the tare.
        self._seen: LoadWindow | None = None
        self._bare: LoadWindow | None = None

    def tare(self) -> None:
        """Take the present load as part of the robot."""
        self._tare = None if self._seen is None else self._seen.weighted()
        self._bare = None

    def see(self, factors: JointFactors, still: Flags, model: Array) -> PayloadEstimate | None:
        """
        Take in a window; return the payload, None while the tare is not known.

        :param factors: of the window.
        :param model: (b,) parameters of the controller in this window.
        :param still: (n,) joints at rest, whose friction is undefined.
        """
        moving = without_joints(factors, still)
        if moving.rows.sum() < EQUATIONS_EACH * len(factors.names):
            return None
        weights = residual_weights(moving)
        residual = np.where(weights > 0.0, 1.0 / np.where(weights > 0.0, weights, 1.0), 0.0)
        missed = moving.residual_norms(model) / np.sqrt(np.maximum(moving.rows, 1))
        now = LoadWindow(moving, np.maximum(residual, ASTRAY * missed))
        self._seen, bare = now, self._bare
        if self._tare is None:
            if bare is not None and self._compare(bare.weighted(), now)[1] < ALIKE:
                self._tare = bare.weighted()
            self._bare = now
            return None
        payload, share = self._compare(self._tare, now)
        # A window that is not like the tare, and the one before it, may hold some of a load. In
        # the tare they would hide what comes after.
        alike = share < ALIKE
        if alike and bare is not None:
            self._tare = self._tare.followed_by(bare.weighted())
        self._bare = now if alike else None
        return payload

    def _compare(self, tare: WeightedWindows, window: LoadWindow) -> tuple[PayloadEstimate, float]:
        """
        Return the load that is in a window but not in the tare, with its share of squares.

        What is left unexplained is that of the worse one.
        """
        now = window.weighted(tare.residual)
        A, y, taken = self._load_equations(tare, now)
        fit = LoadFit.of(A, y)
        explained = float(fit.y @ fit.y)
        freedom = max(tare.rows + now.rows - taken - fit.rank, 1.0)
        # Rows are in units of a residual that is never below what a joint is trusted to.
        sigma = np.sqrt(max((float(y @ y) - explained) / freedom, 1.0))
        p, spread = fit.combinations(np.eye(10))
        G = self._columns
        acting = np.flatnonzero(np.any(G != 0.0, axis=1))
        changes = zip(acting, *fit.combinations(G[acting]))
        share = explained / (sigma**2 * now.rows)
        estimate = PayloadEstimate(
            finite_or_none(p[MASS]),
            float(sigma * spread[MASS]),
            tuple(
                (self.robot.base.names[i], float(value), float(sigma * std))
                for i, value, std in changes
                if np.isfinite(value)
            ),
            bool(share > NOTICED),
            p,
            sigma * spread,
            fit.rows / (sigma * np.sqrt(NOTICED * now.rows)),
        )
        return estimate, share

    def _load_equations(
        self, tare: WeightedWindows, now: WeightedWindows
    ) -> tuple[Array, Array, int]:
        """Return A (m, 10), y (m,) of y = A p without all else, and the rank of all else."""
        body, rest = self._inertial, ~self._inertial
        Wt, W = tare.R[:, :-1], now.R[:, :-1]
        N = np.block([
            [Wt[:, body], Wt[:, rest], np.zeros((len(Wt), int(rest.sum())))],
            [W[:, body], np.zeros((len(W), int(rest.sum()))), W[:, rest]],
        ])  # fmt: skip
        U, s, _ = np.linalg.svd(N / column_sizes(N), full_matrices=False)
        U = U[:, s > RANK * s[0]]
        load = W @ self._columns
        Z = np.zeros((len(N), 11))
        Z[len(Wt) :, :-1], Z[:, -1] = load, np.concatenate([tare.R[:, -1], now.R[:, -1]])
        size = np.linalg.norm(Z, axis=0)
        # Twice, against rounding.
        for _ in range(2):
            Z = Z - U @ (U.T @ Z)
        # Values as small as rounding errors are zero.
        Z[:, np.linalg.norm(Z, axis=0) <= 1e-9 * size] = 0.0
        return Z[:, :-1], Z[:, -1], U.shape[1]
