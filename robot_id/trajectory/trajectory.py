"""The interface of all trajectories: exact sampling, extremes, description as data."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id import budget
from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Extremes:
    """
    Bounds that hold at every instant, not only at samples.

    :param lower: (n,) lowest position.
    :param upper: (n,) highest position.
    :param velocity: (n,) highest absolute velocity.
    :param acceleration: (n,) highest absolute acceleration.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array


class Trajectory(ABC):
    """
    A motion of n joints over [0, duration] seconds, in closed form.

    Before 0 and after `duration` a one-shot motion holds its end position with no velocity and
    acceleration; a periodic one goes on cycle after cycle. Where the acceleration jumps, its value
    from the right is given (from the left at the very end).

    Each kind keeps the arguments of its constructor in attributes of the same names; `nested`
    names those that are trajectories themselves, or lists of them.
    """

    kind: ClassVar[str]
    nested: ClassVar[tuple[str, ...]] = ()
    duration: float
    periodic: bool

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of joints."""

    @abstractmethod
    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        """Return q, dq, ddq, (N, n) each, for (N,) times in [0, duration]."""

    @abstractmethod
    def extremes(self) -> Extremes:
        """Return bounds on position, velocity and acceleration over the whole motion."""

    def to_spec(self) -> dict[str, Any]:
        """Return the plain data from which `make_trajectory` builds the same motion."""
        values = ((key, getattr(self, key)) for key in inspect.signature(type(self)).parameters)
        return {'kind': self.kind, **{k: _plain(v) for k, v in values if v is not None}}

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Trajectory:
        """Build the motion from its plain data (keys checked, nested motions built already)."""
        for key in cls.nested:
            if not isinstance(spec[key], Trajectory):
                raise TrajectoryError(f"{cls.kind}: '{key}' must be a trajectory")
        return cls(**spec)

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """
        Return position, velocity and acceleration at any times.

        :param t: (N,) seconds, or one number.
        :return: q, dq, ddq, (N, n) each, or (n,) each for one number.
        """
        times = np.asarray(t, dtype=float)
        if not np.all(np.isfinite(times)):
            raise TrajectoryError(
                'the time for which a trajectory is sampled is not finite', code='not_finite'
            )
        flat = np.atleast_1d(times)
        if self.periodic:
            q, dq, ddq = self._evaluate(np.mod(flat, self.duration))
        else:
            q, dq, ddq = self._evaluate(np.clip(flat, 0.0, self.duration))
            outside = (flat < 0.0) | (flat > self.duration)
            dq[outside] = 0.0
            ddq[outside] = 0.0
        if times.ndim == 0:
            return q[0], dq[0], ddq[0]
        return q, dq, ddq

    def sampled_evenly(self, samples: int) -> tuple[Array, Array, Array]:
        """Return q, dq, ddq, (N, n) each, at N equal steps from 0 on, the end left out."""
        return self.sample(np.arange(samples) * (self.duration / samples))

    def sampled(self, rate_hz: float, cycles: int = 1) -> Reference:
        """
        Sample the whole motion at a rate, first and last instant included where they fall on it.

        :param rate_hz: samples per second.
        :param cycles: how often to run a periodic motion.
        """
        if not (np.isfinite(rate_hz) and rate_hz > 0.0):
            raise TrajectoryError(
                f'the sampling rate must be positive, got {rate_hz} Hz', code='not_positive'
            )
        if cycles < 1 or cycles != int(cycles):
            raise TrajectoryError(f'the number of cycles must be 1 or more, got {cycles}')
        if cycles > 1 and not self.periodic:
            raise TrajectoryError(
                f'{cycles} cycles of a one-shot {self.kind}: it does not close',
                code='does_not_close',
            )
        wanted = self.duration * cycles * rate_hz
        # Time, three arrays, and about as much again for their evaluation.
        if not wanted * (1 + 6 * self.n) * 8 <= budget.memory_for():
            raise TrajectoryError(
                f'{self.duration * cycles:g} s at {rate_hz:g} Hz are {wanted:.2g} samples, more '
                'than the memory limit allows; use fewer, or raise --memory'
            )
        steps = int(np.floor(wanted + 1e-6))
        if steps < 1:
            raise TrajectoryError(
                f'{rate_hz} Hz gives fewer than 2 samples of a motion of {self.duration} s',
                code='too_few_samples',
            )
        time = np.arange(steps + 1) / rate_hz
        # Rounding must not push the last sample past the end, where the velocity is held at zero.
        inside = time if self.periodic else np.minimum(time, self.duration)
        return Reference(time, *self.sample(inside))

    def ends_at_rest(self, tolerance: float = 1e-9, acceleration: bool = True) -> bool:
        """Return whether velocity (and acceleration) vanish at both ends against their peaks."""
        _, dq, ddq = self._evaluate(np.array([0.0, self.duration]))
        peak = self.extremes()
        still = bool(np.all(np.abs(dq) <= tolerance * np.maximum(peak.velocity, 1e-12)))
        if not acceleration:
            return still
        return still and bool(
            np.all(np.abs(ddq) <= tolerance * np.maximum(peak.acceleration, 1e-12))
        )

    def _check_closed(self) -> None:
        """Refuse `periodic` for a motion whose end does not meet its start."""
        q, dq, _ = self._evaluate(np.array([0.0, self.duration]))
        peak = self.extremes()
        for what, ends, scale in (
            ('position', q, np.maximum(np.abs(peak.lower), np.abs(peak.upper))),
            ('velocity', dq, peak.velocity),
        ):
            jump = np.abs(ends[1] - ends[0])
            bad = np.flatnonzero(jump > 1e-6 * np.maximum(scale, 1e-6))
            if bad.size:
                j = int(bad[0])
                raise TrajectoryError(
                    f'a periodic {self.kind} must close on itself: the {what} of joint {j + 1} '
                    f'starts at {ends[0, j]:.6g} and ends at {ends[1, j]:.6g}'
                )


def as_matrix(values: ArrayLike, what: str, columns: int | None = None) -> Array:
    """Return a finite (rows, columns) float array; refuse others in one line."""
    try:
        matrix = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TrajectoryError(f'{what}: rows of unequal length or not numbers') from error
    if matrix.ndim == 1:
        matrix = matrix[:, None] if columns in (None, 1) else matrix[None, :]
    if matrix.ndim != 2 or (columns is not None and matrix.shape[1] != columns):
        expected = 'a table' if columns is None else f'rows of {columns} numbers'
        raise TrajectoryError(f'{what}: expected {expected}, got shape {np.shape(values)}')
    return _finite(matrix, what)


def as_vector(values: ArrayLike, what: str, length: int | None = None) -> Array:
    """Return a finite (length,) float array; one number stands for all."""
    try:
        vector = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TrajectoryError(f'{what}: not numbers') from error
    if vector.ndim == 0:
        vector = np.full(length or 1, float(vector))
    if vector.ndim != 1 or (length is not None and len(vector) != length):
        raise TrajectoryError(
            f'{what}: expected {length or "a row of"} numbers, got shape {vector.shape}',
            code='shape',
        )
    return _finite(vector, what)


def as_number(value: ArrayLike, what: str) -> float:
    """Return a finite number; refuse others in one line."""
    return float(as_vector(value, what, 1)[0])


def _plain(value: Any) -> Any:
    if isinstance(value, Trajectory):
        return value.to_spec()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _finite(values: Array, what: str) -> Array:
    if values.size == 0:
        raise TrajectoryError(f'{what}: empty')
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        where = ', '.join(str(int(i) + 1) for i in bad[0])
        raise TrajectoryError(f'{what}: entry ({where}) is not finite')
    return values
