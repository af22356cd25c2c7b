"""From measured samples to supervised parameters: the estimator of the ROS node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.data.cleaning.stamps import GAP
from robot_id.dynamics.temperature import feels_temperature
from robot_id.exceptions import DataError, OptionError, did_you_mean
from robot_id.kernel_cache import njit
from robot_id.methods.kalman.state_kernels import model_of, regressor
from robot_id.methods.recursive.energy import EnergyModel
from robot_id.methods.recursive.filters import CausalFilter, Delay, Differences, Washout
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.recursive import RecursiveEstimator
from robot_id.methods.recursive.recursive_iv import RecursiveInstrumentalVariables
from robot_id.methods.recursive.recursive_ls import RecursiveLeastSquares
from robot_id.methods.recursive.status import Status
from robot_id.methods.recursive.supervision import Rule
from robot_id.robot import Robot

Array = NDArray[np.float64]
METHODS = ('rls', 'riv', 'integral')
FILTERINGS = ('model', 'input', 'none')


class RestDetector:
    """
    A joint rests while its position has moved less than velocity * window in the last window.

    The excursion is used and not the differentiated position, whose noise would hide rest, and not
    the speed alone, which is also zero when a moving joint turns round.

    :param velocity: (n,) rad/s or m/s, 0 to switch the test off for a joint.
    :param rate_hz: sampling rate.
    :param window_s: seconds.
    :param settling_s: seconds after rest in which the joint still counts as resting (filters).
    """

    def __init__(
        self, velocity: Array, rate_hz: float, window_s: float = 0.1, settling_s: float = 0.0
    ):
        self.span = np.asarray(velocity, float) * window_s
        self._length = max(round(window_s * rate_hz), 2)
        self._settling = int(np.ceil(settling_s * rate_hz))
        self.active = bool(np.any(self.span > 0.0))
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._ring = np.zeros((self._length, self.span.size))
        self._count = np.zeros(1, np.int64)
        self._left = np.zeros(self.span.size, np.int64)

    def __call__(self, q: Array) -> NDArray[np.bool_]:
        """Take (N, n) positions; return (N, n) flags of resting joints."""
        flags = np.zeros(q.shape, np.bool_)
        if self.active:
            _scan(q, self._ring, self._count, self.span, self._settling, self._left, flags)
        return flags


@njit(cache=True)
def _scan(q, ring, count, span, settling, left, flags):  # type: ignore[no-untyped-def]
    """Put positions into the ring (length, n) and flag joints that stayed within their span."""
    length, n = ring.shape
    for k in range(q.shape[0]):
        ring[count[0] % length] = q[k]
        count[0] += 1
        for j in range(n):
            still = count[0] >= length
            if still:
                lowest, highest = q[k, j], q[k, j]
                for i in range(length):
                    lowest = min(lowest, ring[i, j])
                    highest = max(highest, ring[i, j])
                still = highest - lowest < span[j]
            if still:
                left[j] = settling
            elif left[j] > 0:
                left[j] -= 1
            flags[k, j] = still or left[j] > 0


class OnlineIdentifier:
    """
    Takes positions and torques as they come, in order, and keeps the estimate up to date.

    Positions are differentiated by central differences (`reach` samples late). With `model`
    filtering the columns of the regressor and the torques pass the same causal low-pass, which
    leaves the model valid; `input` filters the positions only, as many do, and delays them against
    the torques: kept for comparison. Equations of joints at rest are left out.

    :param robot: the robot.
    :param rate_hz: rate of the samples.
    :param method: 'rls', 'riv' (instruments from the reference) or 'integral' (energy).
    :param filtering: 'model', 'input' or 'none'.
    :param cutoff_hz: of the low-pass.
    :param order: of the low-pass.
    :param decimation: samples per equation.
    :param rest_velocity: (n,) or scalar, rad/s or m/s: slower joints rest; None: 1 % of the limit.
    :param held_torque: the torque of a sample is held until the next one (a sampled loop of the
        same rate): the mean of two goes with the central difference between them.
    :param coulomb_slope: None for sign(dq).
    :param reach: samples to each side that the differences use, 1 to 3.
    :param noise: (n,) or scalar standard deviations of the equations.
    :param integral_s: seconds in which the integrals of 'integral' fade; None: they do not.
    :param options: of the estimator: start, scale, memory, supervisor, period, initial_std.
    """

    def __init__(
        self,
        robot: Robot,
        rate_hz: float,
        *,
        method: str = 'rls',
        filtering: str = 'model',
        cutoff_hz: float = 10.0,
        order: int = 2,
        decimation: int = 1,
        rest_velocity: ArrayLike | None = None,
        held_torque: bool = False,
        coulomb_slope: float | None = None,
        reach: int = 1,
        noise: ArrayLike = 1.0,
        integral_s: float | None = None,
        memory: Memory | None = None,
        supervisor: Rule | None = None,
        **options: object,
    ):
        _check(robot, method, filtering, rate_hz, decimation)
        self.robot, self.rate_hz, self.method = robot, float(rate_hz), method
        self.filtering, self.decimation = filtering, int(decimation)
        self.coulomb_slope, self.held_torque = coulomb_slope, held_torque
        self._model = model_of(robot, linear=True)
        self._slope = 0.0 if coulomb_slope is None else float(coulomb_slope)
        step = 1.0 / self.rate_hz
        self._differences, self._reference_delay = Differences(step, reach), Delay(reach)
        self._torque_delay = Delay(reach)
        self._filters = [CausalFilter(cutoff_hz, rate_hz, order) for _ in range(3)]
        self._energy = EnergyModel(robot, step, coulomb_slope)
        self.integral_s = integral_s if method == 'integral' else None
        self._washout: Washout | None = None
        if self.integral_s is not None:
            self._washout = Washout(step * self.decimation, self.integral_s)
        settling = 0.0 if filtering == 'none' else self._filters[0].settling_s
        if rest_velocity is None:
            limit = robot.limits.velocity
            rest_velocity = np.where(np.isfinite(limit), 0.01 * limit, 0.0)
        speed = np.broadcast_to(np.asarray(rest_velocity, float), (robot.n,))
        self._rest = RestDetector(speed, rate_hz, settling_s=settling)
        self._settling = int(np.ceil(settling * rate_hz))
        estimator = RecursiveInstrumentalVariables if method == 'riv' else RecursiveLeastSquares
        if method == 'integral':
            noise = 1.0
        self.estimator: RecursiveEstimator = estimator(
            robot.base.names,
            noise=noise,
            memory=memory,
            supervisor=supervisor,
            **options,  # type: ignore[arg-type]
        )
        self.segments = 0
        self.refused = 0
        self.refused_reason = ''
        self._last_time: float | None = None
        self.new_segment()

    def __repr__(self) -> str:
        return (
            f'OnlineIdentifier({self.robot.name!r}, {self.method!r}, rate_hz={self.rate_hz:g}, '
            f'{self.estimator.status().samples} samples)'
        )

    def new_segment(self) -> None:
        """Forget filters, differences and integrals (a gap, a new run); keep the estimate."""
        for part in (self._differences, self._reference_delay, self._torque_delay, self._energy):
            part.reset()
        for low_pass in self._filters:
            low_pass.reset()
        if self._washout is not None:
            self._washout.reset()
        self._rest.reset()
        self._since = 0
        self._last_time = None
        self.segments += 1

    def reset(self) -> None:
        """Forget everything."""
        self.estimator.reset()
        self.refused, self.refused_reason, self.segments = 0, '', 0
        self.new_segment()

    def feed(
        self,
        position: ArrayLike,
        torque: ArrayLike,
        reference: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        time: float | None = None,
    ) -> bool:
        """
        Take one sample or a block.

        :param position: (n,) or (N, n), rad or m.
        :param torque: (n,) or (N, n), N.m or N.
        :param reference: position, velocity, acceleration that the controller follows (riv).
        :param time: seconds of the (first) sample; a gap, a duplicate or a step back begins a new
            segment or refuses the sample.
        :return: False when samples were refused, see status().
        """
        n = self.robot.n
        try:
            q, tau = (np.atleast_2d(np.asarray(x, float)) for x in (position, torque))
        except (TypeError, ValueError) as error:
            raise DataError(f'a sample is {n} positions and {n} torques ({error})') from error
        if q.ndim != 2 or q.shape[1] != n or tau.shape != q.shape:
            raise DataError(
                f'a sample is {n} positions and {n} torques, got {q.shape}, {tau.shape}'
            )
        given = None
        if reference is not None:
            given = np.stack([np.atleast_2d(np.asarray(x, float)) for x in reference], axis=1)
            if given.shape != (q.shape[0], 3, n):
                raise DataError(f'the reference has {given.shape[0]} samples, not {q.shape[0]}')
        elif self.method == 'riv':
            raise DataError(
                'riv needs what the controller follows: give reference=(position, velocity, '
                'acceleration) beside each sample',
                key='reference',
            )
        if not self._in_time(time, q.shape[0]):
            return False
        finite = np.isfinite(q).all(axis=1) & np.isfinite(tau).all(axis=1)
        if given is not None:
            finite &= np.isfinite(given).all(axis=(1, 2))
        if finite.all():
            self._take(q, tau, given)
            return True
        for k in range(q.shape[0]):
            if finite[k]:
                self._take(
                    q[k : k + 1], tau[k : k + 1], None if given is None else given[k : k + 1]
                )
            else:
                self._refuse('not finite')
                self.new_segment()
        return False

    def _in_time(self, time: float | None, count: int) -> bool:
        if time is None:
            return True
        if self._last_time is not None:
            periods = (time - self._last_time) * self.rate_hz
            if periods < 0.5:
                self._refuse(f'stamp {time:.6f} s is not after {self._last_time:.6f} s')
                return False
            if periods > GAP:
                self._refuse(f'gap of {periods / self.rate_hz:.4f} s before {time:.6f} s', 0)
                self.new_segment()
        self._last_time = time + (count - 1) / self.rate_hz
        return True

    def _refuse(self, reason: str, count: int = 1) -> None:
        self.refused += count
        self.refused_reason = reason

    def _take(self, position: Array, torque: Array, reference: Array | None) -> None:
        for W, y, Z in self.equations(position, torque, reference):
            self.estimator.update(W, y, Z)

    def equations(
        self, position: Array, torque: Array, reference: Array | None = None
    ) -> Iterator[tuple[Array, Array, Array | None]]:
        """
        Take (N, n) samples; yield W (m, b), y (m,) and instruments of each equation they complete.

        `feed` gives these to the estimator; taken from here they leave it alone.

        :param reference: (N, 3, n) position, velocity and acceleration (riv).
        """
        resting = self._torque_delay.late('rest', self._rest(position))
        if self.filtering == 'input':
            position = self._filters[0](position)
        q, dq, ddq = self._differences(position)
        tau = self._torque_delay.late('torque', torque, self.held_torque)
        wanted = None if reference is None else self._reference_delay.late('reference', reference)
        if not len(q):
            return
        if self.method == 'integral':
            W, y = self._energy(q, dq, tau)
        else:
            W = regressor(self._model, q, dq, ddq, self._slope)
            y = tau
        Z = None
        if self.method == 'riv' and wanted is not None:
            wanted = np.ascontiguousarray(np.swapaxes(wanted, 0, 1))
            Z = regressor(self._model, wanted[0], wanted[1], wanted[2], self._slope)
        if self.filtering == 'model' and self.method != 'integral':
            W, y = self._filters[0](W), self._filters[1](y)
            Z = None if Z is None else self._filters[2](Z)
        if self.method != 'integral' and resting.any():
            W, y = np.where(resting[:, :, None], 0.0, W), np.where(resting, 0.0, y)
            Z = None if Z is None else np.where(resting[:, :, None], 0.0, Z)
        for k in range(len(q)):
            self._since += 1
            if self._since > self._settling and self._since % self.decimation == 0:
                row, right = W[k], y[k]
                if self._washout is not None:
                    both = self._washout(np.column_stack([row, right]))
                    row, right = both[:, :-1], both[:, -1]
                yield row, right, None if Z is None else Z[k]

    @property
    def estimate(self) -> Array:
        """(b,) current base parameters, SI units."""
        return self.estimator.estimate

    @property
    def covariance(self) -> Array:
        """(b, b) covariance, NaN for parameters that are not known on their own."""
        return self.estimator.covariance

    def status(self) -> Status:
        """Return the state of the estimator with the samples that were refused here."""
        status = self.estimator.status()
        return replace(
            status,
            rejected=status.rejected + self.refused,
            rejected_reason=self.refused_reason or status.rejected_reason,
        )


def _check(robot: Robot, method: str, filtering: str, rate_hz: float, decimation: int) -> None:
    """Refuse what no estimator can have."""
    for key, value, known in (
        ('method', method, METHODS),
        ('filtering', filtering, FILTERINGS),
    ):
        if value not in known:
            raise OptionError(f"no {key} '{value}': {did_you_mean(str(value), known)}")
    if not rate_hz > 0:
        raise OptionError(f'rate_hz = {rate_hz}, must be positive')
    if decimation < 1 or decimation != int(decimation):
        raise OptionError(f'decimation = {decimation}, must be 1 or more')
    if feels_temperature(robot):
        raise OptionError(
            f'{robot.name}: friction that changes with the temperature cannot be followed '
            'on-line, since joint states have no temperature: choose other friction terms'
        )
