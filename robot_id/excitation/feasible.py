"""Coefficients scaled into the limits, smoothly, so that a search never leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_id.excitation.kernels import share_weights
from robot_id.excitation.motion_basis import MotionBasis
from robot_id.trajectory.limits import MotionLimits
from robot_id.trajectory.trajectory import Array


@dataclass(frozen=True)
class Scaled:
    """
    X scaled joint by joint, with what the chain rule needs.

    :param X: (P, n) scaled coefficients, X = X0 / g(X0).
    :param gauge: (n,) g >= 1.
    :param slope: (P, n) dg/dX0.
    """

    X: Array
    gauge: Array
    slope: Array

    def pull_back(self, gradient: Array, X0: Array) -> Array:
        """Return df/dX0 from df/dX, both (P, n)."""
        along = np.sum(X0 * gradient, axis=0)
        return gradient / self.gauge - self.slope * along / self.gauge**2


class Gauge:
    """
    g = ||(1, shares of the limits at all samples)||_p of each joint.

    The p-norm is at least the maximum, so X / g keeps position, velocity and acceleration at all
    samples, and it is smooth; the 1 lets a joint move less than its limits allow.

    :param basis: B, dB, ddB of the samples, (N, P) each.
    :param limits: of the motion.
    """

    def __init__(self, basis: tuple[Array, Array, Array], limits: MotionLimits) -> None:
        self.basis = basis
        self.bounds = (limits.half, limits.velocity, limits.acceleration)
        self._motion = MotionBasis(basis)
        # A joint to a row: sums over the samples are then in one piece.
        self._by_bound = 1.0 / np.repeat(np.stack(self.bounds, axis=1), len(basis[0]), axis=1)

    @cached_property
    def factors(self) -> Array:
        """
        (n, P, P) upper triangular C_j: |C_j X_j| is the root mean square share of the limits.

        In x_j = C_j X_j a step of one size does about as much to any joint and any coefficient,
        which is what a gradient search needs.
        """
        found = []
        for bounds in zip(*self.bounds):
            rows = [B / bound for B, bound in zip(self.basis, bounds) if np.isfinite(bound)]
            R = np.asarray(np.linalg.qr(np.vstack(rows), mode='r'))
            found.append(R / np.sqrt(len(self.basis[0])))
        return np.array(found)

    def scale(self, X0: Array, power: float) -> Scaled:
        """
        Return the coefficients within the limits.

        :param power: p, a whole number of at least 2; with a small one a motion that is often at
            its limits stays well below.
        """
        p = round(power)
        weights = self._motion.motion(X0).reshape(X0.shape[1], -1)
        weights *= self._by_bound
        top, total = np.empty((2, len(weights)))
        share_weights(weights, self._by_bound, p - 1, top, total)
        gauge = top * (total + top**-p) ** (1.0 / p)
        slope = self._motion.pull_back(weights.reshape(len(weights), 3, -1))
        slope *= (top / gauge) ** (p - 1)
        return Scaled(X0 / gauge, gauge, slope)
