"""The direct model as a state-space model z = [dq q chi], with its analytic Jacobian."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.model import Robot
from robot_id.online import state_kernels, state_step

Array = NDArray[np.float64]
# In the order of the kernels' numbers.
DISCRETISATIONS = ('euler', 'midpoint', 'cut')


class NotPositive(Exception):
    """M(q) of an estimate is not positive definite: the direct model is undefined there."""


class StateModel:
    """
    z_{k+1} = f(z_k, tau_k): robot state and parameters one sampling period later.

    Accelerations are ddq = M^-1 (tau - N); d ddq/d chi = -M^-1 Phi(q, dq, ddq), and
    d ddq/d q = -M^-1 d tau/d q, d ddq/d dq = -M^-1 d tau/d dq are exact, with the slope of the
    friction. `euler` is eq. 13 of paper 004; `midpoint` evaluates the model half a period ahead
    (second order), at twice the cost; `cut` does so in parts where a joint turns (`state_step`).

    :param robot: the robot.
    :param step: sampling period, seconds.
    :param discretisation: 'euler', 'midpoint' or 'cut'.
    :param coulomb_slope: None for sign(dq), whose slope counts as zero.
    """

    def __init__(
        self,
        robot: Robot,
        step: float,
        discretisation: str = 'midpoint',
        coulomb_slope: float | None = None,
    ):
        if discretisation not in DISCRETISATIONS:
            hint = did_you_mean(discretisation, DISCRETISATIONS)
            raise OptionError(f"no discretisation '{discretisation}': {hint}")
        if not step > 0:
            raise OptionError(f'step = {step}, must be positive')
        self.robot, self.step = robot, float(step)
        self.order = DISCRETISATIONS.index(discretisation)
        self.slope = 0.0 if coulomb_slope is None else float(coulomb_slope)
        self.n, self.b = robot.n, len(robot.base)
        self.arrays = state_kernels.model_of(robot, self.slope)

    @property
    def size(self) -> int:
        """Length of z, 2n + b."""
        return 2 * self.n + self.b

    def accelerations(self, Z: Array, tau: Array) -> Array:
        """
        Return ddq for many states at once, each with its own parameters.

        :param Z: (P, 2n + b) states.
        :param tau: (n,) torques.
        :return: (P, n); NotPositive when any M(q) is not positive definite.
        """
        out = np.empty((Z.shape[0], self.n))
        if not state_kernels.accelerations(self.arrays, Z, _row(tau), self.slope, out):
            raise NotPositive
        return out

    def advance_many(self, Z: Array, tau: Array) -> Array:
        """Return f(z, tau) of (P, 2n + b) states; tau as in `advance`."""
        out = np.empty_like(Z)
        if not state_step.advance_many(
            self.arrays, Z, _rows(tau), self.slope, self.step, self.order, out
        ):
            raise NotPositive
        return out

    def linearise(self, z: Array, tau: Array) -> tuple[Array, Array]:
        """Return ddq (n,) and its derivative by [dq q chi], (n, 2n + b)."""
        ddq, J = np.empty(self.n), np.empty((self.n, self.size))
        if not state_kernels.linearise(self.arrays, z, _row(tau), self.slope, ddq, J):
            raise NotPositive
        return ddq, J

    def advance(self, z: Array, tau: Array) -> tuple[Array, Array]:
        """
        Return f(z, tau) and the first 2n rows of its Jacobian; the rest are those of the identity.

        :param tau: (n,) torques, or (m, n) that are held for an m-th of the period each.
        :return: (2n + b,), (2n, 2n + b).
        """
        ahead, F = np.empty(self.size), np.empty((2 * self.n, self.size))
        if not state_step.advance(
            self.arrays, z, _rows(tau), self.slope, self.step, self.order, ahead, F
        ):
            raise NotPositive
        return ahead, F


def _row(x: Array) -> Array:
    """Return an array as generated code takes it."""
    return np.ascontiguousarray(x, dtype=float)


def _rows(tau: Array) -> Array:
    """(m, n) torques."""
    return np.atleast_2d(_row(tau))
