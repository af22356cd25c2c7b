"""The integral (energy) model of paper 002, eq. 17: no acceleration is needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.robot import Robot
from robot_id.robot.friction import ROTOR

Array = NDArray[np.float64]


class EnergyModel:
    """
    Work of the drives = change of energy + work against friction and gravity, linear in chi.

    int tau'dq dt = [K(q, dq) - K_0 + int dq' (gravity + friction) dt] chi. With the regressor Y,
    K = dq' (Y(q, 0, dq) - Y(q, 0, 0)) / 2, gravity is Y(q, 0, 0), and friction is the part of
    Y(q, dq, 0) in the columns of the drive terms. Integrals by trapezoids, from the first sample
    after a reset.

    :param robot: the robot.
    :param step: sampling period, seconds.
    :param coulomb_slope: None for sign(dq).
    """

    def __init__(self, robot: Robot, step: float, coulomb_slope: float | None = None):
        self.robot, self.step, self.slope = robot, step, coulomb_slope
        terms = robot.terms
        friction = np.unique(terms.parameter[terms.kind != ROTOR])
        self._friction = np.isin(robot.base.columns, robot.term_index[friction])
        self.reset()

    def reset(self) -> None:
        """Begin a new integral."""
        self._sum: Array | None = None
        self._power = np.zeros(0)
        self._start = np.zeros(0)

    def kinetic(self, q: Array, dq: Array) -> tuple[Array, Array]:
        """Return (N, b) kinetic energy functions and (N, n, b) gravity functions."""
        still = np.zeros_like(q)
        gravity = dynamics.regressor(self.robot, q, still, still, self.slope)
        inertia = dynamics.regressor(self.robot, q, still, dq, self.slope) - gravity
        return 0.5 * np.einsum('kj,kjb->kb', dq, inertia), gravity

    def __call__(self, q: Array, dq: Array, tau: Array) -> tuple[Array, Array]:
        """
        Take (N, n) samples; return rows (N, 1, b) and work (N, 1).

        Sample by sample or in blocks gives the same rows.
        """
        N, b = q.shape[0], len(self.robot.base)
        if N == 0:
            return np.empty((0, 1, b)), np.empty((0, 1))
        K, gravity = self.kinetic(q, dq)
        friction = dynamics.regressor(self.robot, q, dq, np.zeros_like(q), self.slope)
        losses = np.where(self._friction, friction, gravity)
        power = np.empty((N, b + 1))
        power[:, :b] = np.einsum('kj,kjb->kb', dq, losses)
        power[:, b] = np.einsum('kj,kj->k', tau, dq)
        if self._sum is None:
            self._sum, self._start, self._power = np.zeros(b + 1), K[0].copy(), power[0].copy()
            power_before = np.vstack([-power[:1], power[:-1]])  # nothing is added at the start
        else:
            power_before = np.vstack([self._power, power[:-1]])
        steps = 0.5 * self.step * (power_before + power)
        total = self._sum + np.cumsum(steps, axis=0)
        self._sum, self._power = total[-1].copy(), power[-1].copy()
        return (total[:, :b] + K - self._start)[:, None, :], total[:, b:]
