"""The common part of the extended and the sigma-point Kalman filters."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.exceptions import DataError, IdentificationError, OptionError, did_you_mean
from robot_id.methods.kalman import state_kernels, state_step
from robot_id.methods.kalman.state_kernels import positive
from robot_id.methods.recursive.status import ParameterStatus, Status
from robot_id.robot import Robot

Array = NDArray[np.float64]
# First share of the way back to the start values when M(q) is lost; it doubles.
SMALLEST_PULL = 2.0**-10
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


class KalmanFilter(ABC):
    """
    Estimates dq, q and the parameters together from measured positions and torques (paper 004).

    Feed one sample or a block with `update`; ask for the estimate at any time. An estimate that
    makes M(q) not positive definite has no direct model: the parameters are then moved back
    towards the last good ones until M(q) is positive definite in all guard configurations (the
    set of such parameters is convex, so a step back always helps); this is counted. Where M(q) is
    lost at another position, they are moved towards the start values. Where that does not help,
    or the numbers are no longer finite, the filter stops, says so in `failure`, and gives no
    estimate.

    :param robot: the robot.
    :param step: sampling period, seconds.
    :param start: (b,) parameter values to begin with.
    :param parameter_std: (b,) or scalar, their standard deviations.
    :param state_std: (2n,) or scalar, of [dq q] at the first sample.
    :param process_std: (2n,) or scalar, of what is added to [dq q] in each step.
    :param measurement_std: (n,) or scalar, of the measured positions.
    :param drift_std: (b,) or scalar, of what is added to the parameters in each step, 0 for
        constant ones.
    :param discretisation: 'midpoint', the paper's 'euler', or 'cut' (`state_step`).
    :param coulomb_slope: None for sign(dq).
    :param guard: (K, n) configurations for that test; None takes 16 within the joint limits.
        Those where the start values fail already are left out.
    """

    def __init__(
        self,
        robot: Robot,
        step: float,
        start: ArrayLike,
        parameter_std: ArrayLike,
        *,
        state_std: ArrayLike = 1.0,
        process_std: ArrayLike = 1e-2,
        measurement_std: ArrayLike = 1e-2,
        drift_std: ArrayLike = 0.0,
        discretisation: str = 'midpoint',
        coulomb_slope: float | None = None,
        guard: ArrayLike | None = None,
    ):
        self.robot = robot
        self.model = StateModel(robot, step, discretisation, coulomb_slope)
        n, b = robot.n, len(robot.base)
        self.n, self.b = n, b
        self.start = _vector('start', start, b)
        self.parameter_std = _vector('parameter_std', parameter_std, b, lowest=0.0)
        self.state_std = _vector('state_std', state_std, 2 * n, lowest=0.0)
        self.process_std = _vector('process_std', process_std, 2 * n, lowest=0.0)
        self.measurement_std = _vector('measurement_std', measurement_std, n, lowest=0.0)
        if np.any(self.measurement_std == 0.0):
            raise OptionError('measurement_std must be positive')
        self.drift_std = _vector('drift_std', drift_std, b, lowest=0.0)
        configurations = sample_configurations(robot, 16) if guard is None else np.array(guard)
        arrays = self.model.arrays
        kept = [q for q in configurations if positive(arrays, self.start, q[None, :])]
        self.guard = np.array(kept).reshape(-1, n)
        self.reset()

    def reset(self) -> None:
        """Return to the start values and their uncertainty."""
        self.samples = 0
        self.rejected = 0
        self.rejected_reason = ''
        self.moved_back = 0
        self.failure = ''
        self.innovation = 0.0
        self.z = np.concatenate([np.zeros(2 * self.n), self.start])
        self._good = self.start.copy()
        self._tau: Array | None = None
        self._restart(np.diag(self.parameter_std**2))

    def new_run(self) -> None:
        """Begin another recording: keep the parameters, forget position and velocity."""
        self._restart(self._parameter_covariance())
        self._tau = None

    def update(self, q: ArrayLike, tau: ArrayLike) -> bool:
        """
        Take one sample or a block.

        The torque of a sample acts until the next one; the first sample sets the position.

        :param q: (n,) measured positions, or (N, n).
        :param tau: (n,) torques, or (N, n), or (N, m, n): m torques, each held for an m-th of the
            time until the next sample.
        :return: False when a sample was refused or the filter has failed.
        """
        Q = np.ascontiguousarray(np.atleast_2d(np.asarray(q, float)))
        T = np.atleast_2d(np.asarray(tau, float))
        T = np.ascontiguousarray(T[:, None, :] if T.ndim == 2 else T)
        if Q.ndim != 2 or Q.shape[1] != self.n or T.ndim != 3 or T[:, 0].shape != Q.shape:
            raise DataError(
                f'a sample is q ({self.n},) and tau ({self.n},), got {Q.shape}, {np.shape(tau)}'
            )
        if self.failure:
            return False
        finite = np.isfinite(Q).all(axis=1) & np.isfinite(T).all(axis=(1, 2))
        good = True
        first = 0
        while first < len(Q):
            if not finite[first]:
                # Without this torque the next prediction would be wrong: begin again after it.
                self.rejected += 1
                self.rejected_reason = f'sample {self.samples + self.rejected}: not finite'
                self.new_run()
                good = False
                first += 1
                continue
            last = first
            while last < len(Q) and finite[last]:
                last += 1
            if not self._block(Q[first:last], T[first:last]):
                return False
            first = last
        return good

    def _block(self, Q: Array, T: Array) -> bool:
        n = self.n
        if self._tau is None:
            self.z[n : 2 * n] = Q[0]
            self.z[:n] = 0.0
            if len(Q) > 1:
                self.z[:n] = (Q[1] - Q[0]) / self.model.step
            self._tau = T[0].copy()
            self.samples += 1
            Q, T = Q[1:], T[1:]
        if not len(Q):
            return True
        acting = np.concatenate([self._tau[None], T[:-1]])
        done = self._filter(Q, acting)
        share = SMALLEST_PULL
        while done < len(Q) and share <= 1.0 and np.all(np.isfinite(self.z)):
            # M(q) is lost at a position that no guard stands for: back towards the start values.
            chi = self.z[2 * n :]
            chi += share * (self.start - chi)
            self._good[:] = chi
            self.moved_back += 1
            more = self._filter(Q[done:], acting[done:])
            share = 2.0 * share if more == 0 else SMALLEST_PULL
            done += more
        self.samples += done
        self._tau = T[-1].copy()
        if done < len(Q):
            finite = bool(np.all(np.isfinite(self.z)))
            self.failure = (
                f'sample {self.samples + 1}: M(q) of the estimate is not positive definite'
                if finite
                else f'sample {self.samples + 1}: the filter diverged'
            )
            return False
        return True

    @abstractmethod
    def _restart(self, P: Array) -> None:
        """Set the covariance: independent [dq q], parameters with covariance P."""

    @abstractmethod
    def _filter(self, Q: Array, acting: Array) -> int:
        """
        Predict with the torques (m, n) of each interval and correct with each position.

        :return: how many went well.
        """

    @abstractmethod
    def _parameter_covariance(self) -> Array:
        """Return the (b, b) covariance of the parameters."""

    def _check(self) -> None:
        if self.failure:
            raise IdentificationError(
                f'{self.robot.name}: {self.failure}; give better start values or a smaller '
                'parameter_std'
            )

    @property
    def estimate(self) -> Array:
        """(b,) parameters; IdentificationError when the filter has failed."""
        self._check()
        return self.z[2 * self.n :].copy()

    @property
    def covariance(self) -> Array:
        """(b, b) covariance of the parameters."""
        self._check()
        return self._parameter_covariance()

    @property
    def position(self) -> Array:
        """(n,) filtered position."""
        return self.z[self.n : 2 * self.n].copy()

    @property
    def velocity(self) -> Array:
        """(n,) filtered velocity."""
        return self.z[: self.n].copy()

    def status(self) -> Status:
        """Return the health of the filter; every parameter is live unless it has failed."""
        values = self.z[2 * self.n :]
        stds = np.sqrt(np.maximum(np.diag(self._parameter_covariance()), 0.0))
        state = 'frozen' if self.failure else 'live'
        observations = max((self.samples - 1) * self.n, 1)
        return Status(
            parameters=tuple(
                ParameterStatus(name, float(v), float(s), state, self.failure)
                for name, v, s in zip(self.robot.base.names, values, stds)
            ),
            samples=self.samples,
            rejected=self.rejected,
            rejected_reason=self.rejected_reason,
            rows=float(self.samples * self.n),
            noise_std=float(np.sqrt(self.innovation / observations)),
            condition=float('nan'),
            smallest=float('nan'),
            spread=float('nan'),
            suspended=bool(self.failure),
        )


def _vector(key: str, values: ArrayLike, size: int, lowest: float = -np.inf) -> Array:
    vector = np.array(values, float)
    if vector.ndim == 0:
        vector = np.full(size, float(vector))
    if vector.shape != (size,) or not np.all(np.isfinite(vector)):
        raise OptionError(f'{key} must be {size} finite numbers, got shape {vector.shape}')
    if np.any(vector < lowest):
        raise OptionError(f'{key} must not be below {lowest:g}, got {vector.min():g}')
    return vector
