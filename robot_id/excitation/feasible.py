"""Coefficients scaled into the limits, smoothly, so that a search never leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_id.excitation.limit_kernels import scaled_states, share_weights, slopes_before_scaling
from robot_id.excitation.motion_basis import MotionBasis
from robot_id.trajectory.limits import MotionLimits
from robot_id.trajectory.trajectory import Array


@dataclass(frozen=True)
class Scaled:
    """
    X = X0 / g(X0), joint by joint, with what the chain rule needs.

    :param X: (P, n) scaled coefficients.
    :param gauge: (n,) g >= 1.
    :param motion: (n, 3, K) positions, velocities and accelerations of X0 at all samples.
    :param weights: (n, 3, K) dg over them, but for the factor (n,).
    :param basis: from X0 to the motion.
    """

    X: Array
    gauge: Array
    motion: Array
    weights: Array
    factor: Array
    basis: MotionBasis

    def states(self, middle: Array, samples: int) -> Array:
        """Return q, dq, ddq (3, n, N) of the scaled motion about middle (n,), at N samples."""
        states = np.empty((3, len(middle), samples))
        scaled_states(self.motion, self.gauge, middle, states)
        return states

    def pull_back(self, slopes: Array) -> Array:
        """Return df/dX0 (P, n) from df over `states` (3, n, N), as many as there were."""
        whole = np.empty_like(self.motion)
        slopes_before_scaling(slopes, self.motion, self.gauge, self.weights, self.factor, whole)
        return self.basis.pull_back(whole)


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
        self._by_bound = 1.0 / np.stack(self.bounds, axis=1)

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
        motion = self._motion.motion(X0)
        weights = np.empty_like(motion)
        top, total = np.empty((2, len(motion)))
        share_weights(motion, self._by_bound, p - 1, weights, top, total)
        gauge = top * (total + top**-p) ** (1.0 / p)
        factor = (top / gauge) ** (p - 1)
        return Scaled(X0 / gauge, gauge, motion, weights, factor, self._motion)
