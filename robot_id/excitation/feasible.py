"""
Coefficients scaled into the limits, smoothly, so that a search never leaves them.

Compiled: the norm of a motion's shares of the limits, the scaling, and the torques.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.excitation.motion_basis import MotionBasis
from robot_id.excitation.weighted_rows import ANY_ORDER
from robot_id.kernel_cache import njit
from robot_id.trajectory.limits import MotionLimits
from robot_id.trajectory.trajectory import Array

_NEAR = 0.97  # share of a torque limit from which on a motion is pushed away from it
_BLOCK = 64  # samples that are looked at together
_NOTHING = 1e-20  # share of the norm that is lost in rounding, however many such samples


@njit(**ANY_ORDER)
def share_weights(motion, by_bound, exponent, weights, top, total):
    """
    Fill the weights sign(x) (|x| / top)^exponent / limit, with x the shares of the limits.

    :param motion: (n, 3, K) positions, velocities and accelerations.
    :param by_bound: (n, 3) 1 / limit.
    :param exponent: a whole number, 1 at least.
    :param weights: (n, 3, K) is filled.
    :param top: (n,) gets the largest |x| of each joint, 1 at least.
    :param total: (n,) gets the sums of (|x| / top)^(exponent + 1).
    """
    n, _, K = motion.shape
    power, square = np.empty(_BLOCK), np.empty(_BLOCK)
    peaks = np.empty((3, -(-K // _BLOCK)))
    small = _NOTHING ** (1.0 / exponent)
    for j in range(n):
        largest, summed = 1.0, 0.0
        for i in range(3):
            for block in range(peaks.shape[1]):
                peak = 0.0
                for s in range(block * _BLOCK, min((block + 1) * _BLOCK, K)):
                    peak = max(peak, abs(motion[j, i, s]))
                peaks[i, block] = peak * by_bound[j, i]
                largest = max(largest, peaks[i, block])
        top[j] = largest
        for i in range(3):
            scale = by_bound[j, i] / largest
            for first in range(0, K, _BLOCK):
                row = motion[j, i, first : first + _BLOCK]
                filled = weights[j, i, first : first + _BLOCK]
                if peaks[i, first // _BLOCK] < small * largest:
                    filled[:] = 0.0
                    continue
                count = len(row)
                for s in range(count):
                    square[s] = abs(row[s] * scale)
                    power[s] = 1.0
                left = exponent
                while left:
                    if left & 1:
                        for s in range(count):
                            power[s] *= square[s]
                    left >>= 1
                    if left:
                        for s in range(count):
                            square[s] *= square[s]
                for s in range(count):
                    summed += power[s] * abs(row[s] * scale)
                    filled[s] = math.copysign(power[s], row[s]) * by_bound[j, i]
        total[j] = summed


@njit(**ANY_ORDER)
def scaled_states(motion, gauge, middle, states):
    """
    Fill states (3, n, N) = motion / gauge, the positions about the middle.

    :param motion: (n, 3, K), of which every (K / N)th sample is taken.
    :param gauge: (n,); middle (n,).
    """
    n, _, K = motion.shape
    N = states.shape[2]
    every = K // N
    for j in range(n):
        for i in range(3):
            offset = middle[j] if i == 0 else 0.0
            for k in range(N):
                states[i, j, k] = motion[j, i, every * k] / gauge[j] + offset


@njit(**ANY_ORDER)
def slopes_before_scaling(slopes, motion, gauge, weights, factor, whole):
    """
    Fill the slopes of f over the motion (n, 3, K) from those over motion / gauge at some samples.

    :param slopes: (3, n, N) over every (K / N)th sample of motion / gauge.
    :param gauge: (n,) g; factor (n,) times weights (n, 3, K) is dg over the motion.
    :param whole: (n, 3, K) is filled.
    """
    n, _, K = motion.shape
    N = slopes.shape[2]
    every = K // N
    for j in range(n):
        along = 0.0
        for i in range(3):
            for k in range(N):
                along += slopes[i, j, k] * motion[j, i, every * k]
        along *= -factor[j] / (gauge[j] * gauge[j])
        for i in range(3):
            for s in range(K):
                whole[j, i, s] = along * weights[j, i, s]
            for k in range(N):
                whole[j, i, every * k] += slopes[i, j, k] / gauge[j]


@njit(**ANY_ORDER)
def torque_penalty(rows, chi, ends, limit, scale, slope):
    """
    Return scale times the sum of (|tau| / limit - 0.97)^2 where that is positive.

    :param rows: (A, N) entries of the regressor, joint by joint; chi (A,) the parameter of each.
    :param ends: (n + 1,) where the entries of each joint begin.
    :param limit: (n,) largest torques.
    :param slope: (A, N) the slopes in the entries are added.
    """
    N = rows.shape[1]
    tau, penalty = np.empty(N), 0.0
    for j in range(len(ends) - 1):
        tau[:] = 0.0
        for k in range(ends[j], ends[j + 1]):
            for s in range(N):
                tau[s] += chi[k] * rows[k, s]
        before = penalty
        for s in range(N):
            over = abs(tau[s]) / limit[j] - _NEAR
            if not over <= 0.0:  # NaN too
                penalty += scale * over * over
                tau[s] = math.copysign(2.0 * scale * over / limit[j], tau[s])
            else:
                tau[s] = 0.0
        if penalty == before:
            continue
        for k in range(ends[j], ends[j + 1]):
            for s in range(N):
                slope[k, s] += chi[k] * tau[s]
    return penalty


_WORK = np.ones((1, 3, 2))
_STATES = np.ones((3, 1, 2))
KERNELS['share_weights'] = Kernel(
    share_weights,
    lambda robot, chi, x: share_weights(_WORK, _WORK[:, :, 0].copy(), 1, _WORK.copy(), x[0], x[0]),
)
KERNELS['scaled_states'] = Kernel(
    scaled_states,
    lambda robot, chi, x: scaled_states(_WORK, np.ones(1), np.ones(1), _STATES.copy()),
)
KERNELS['slopes_before_scaling'] = Kernel(
    slopes_before_scaling,
    lambda robot, chi, x: slopes_before_scaling(
        _STATES, _WORK, np.ones(1), _WORK, np.ones(1), _WORK.copy()
    ),
)
KERNELS['torque_penalty'] = Kernel(
    torque_penalty,
    lambda robot, chi, x: torque_penalty(x, x[0], np.arange(2), x[0] + 1.0, 1.0, x.copy()),
)


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
