"""Finite Fourier series, at rest at both ends if wanted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.trajectory import (
    Array,
    Extremes,
    Trajectory,
    as_matrix,
    as_number,
    as_vector,
)

# Samples times harmonics that are evaluated at once.
LARGEST = 1 << 20


class Fourier(Trajectory):
    """
    q_j(t) = offset_j + sum_k sine_jk sin(k w t) + cosine_jk cos(k w t), w = 2 pi / duration.

    One period is the whole motion. It starts and ends with no velocity where sum k sine_jk = 0 and
    with no acceleration where sum k^2 cosine_jk = 0; `Fourier.at_rest` builds such a series.

    :param duration: the period, seconds.
    :param offset: (n,) mean positions.
    :param sine: (n, H) amplitudes, rad or m.
    :param cosine: (n, H) amplitudes, rad or m.
    :param periodic: False to stop after one period.
    """

    kind = 'fourier'

    def __init__(
        self,
        duration: float,
        offset: ArrayLike,
        sine: ArrayLike,
        cosine: ArrayLike,
        periodic: bool = True,
    ) -> None:
        self.duration = as_number(duration, 'fourier: duration')
        if self.duration <= 0.0:
            raise TrajectoryError(f'fourier: duration must be positive, got {self.duration:g} s')
        self.offset = as_vector(offset, 'fourier: offset')
        self.sine = _amplitudes(sine, 'sine', self.n)
        self.cosine = _amplitudes(cosine, 'cosine', self.n)
        if self.sine.shape != self.cosine.shape:
            raise TrajectoryError(
                f'fourier: sine has shape {self.sine.shape}, cosine {self.cosine.shape}'
            )
        self.periodic = bool(periodic)

    @classmethod
    def at_rest(
        cls,
        duration: float,
        start: ArrayLike,
        sine: ArrayLike,
        cosine: ArrayLike,
        periodic: bool = True,
    ) -> Fourier:
        """
        Return the nearest series that starts and ends in `start` with no velocity, acceleration.

        The amplitudes are projected onto sum k sine = 0 and sum k^2 cosine = 0 (least change).
        """
        posture = as_vector(start, 'fourier: start')
        S = _amplitudes(sine, 'sine', posture.size)
        C = _amplitudes(cosine, 'cosine', posture.size)
        if S.shape[1] < 2:
            raise TrajectoryError('fourier: rest at both ends needs at least 2 harmonics')
        k = np.arange(1, S.shape[1] + 1, dtype=float)
        S = S - np.outer(S @ k, k) / (k @ k)
        C = C - np.outer(C @ k**2, k**2) / (k**2 @ k**2)
        return cls(duration, posture - C.sum(axis=1), S, C, periodic)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.offset)

    @property
    def harmonics(self) -> int:
        """Number H of harmonics."""
        return self.sine.shape[1]

    @property
    def pulsations(self) -> Array:
        """(H,) k w in rad/s."""
        return 2.0 * np.pi / self.duration * np.arange(1.0, self.harmonics + 1.0)

    def _evaluate(self, t: Array) -> tuple[Array, Array, Array]:
        # In pieces: sines and cosines of all samples and harmonics would take gigabytes.
        most = max(LARGEST // max(self.harmonics, 1), 1)
        if len(t) > most:
            parts = [self._evaluate(t[k : k + most]) for k in range(0, len(t), most)]
            q, dq, ddq = (np.concatenate(each) for each in zip(*parts))
            return q, dq, ddq
        w = self.pulsations
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        q = self.offset + s @ self.sine.T + c @ self.cosine.T
        dq = c @ (w * self.sine).T - s @ (w * self.cosine).T
        ddq = -s @ (w**2 * self.sine).T - c @ (w**2 * self.cosine).T
        return q, dq, ddq

    def sampled_evenly(self, samples: int) -> tuple[Array, Array, Array]:
        """Return q, dq, ddq, (N, n) each, at N equal steps over the period, by the FFT."""
        if samples <= 2 * self.harmonics:  # too few to tell the harmonics apart
            return super().sampled_evenly(samples)
        w = 1j * self.pulsations
        amplitudes = 0.5 * samples * (self.cosine - 1j * self.sine)
        spectrum = np.zeros((3, self.n, samples // 2 + 1), complex)
        spectrum[0, :, 0] = samples * self.offset
        spectrum[:, :, 1 : self.harmonics + 1] = [amplitudes * w**order for order in range(3)]
        q, dq, ddq = np.fft.irfft(spectrum, samples).transpose(0, 2, 1)
        return q, dq, ddq

    def extremes(self) -> Extremes:
        """
        Return bounds that are never exceeded and about 0.1 % wide.

        Between samples a step h apart, |f| is at most its sampled peak plus h^2/8 max |f''|, and
        |f''| is at most the sum of its amplitudes.
        """
        samples = 128 * max(self.harmonics, 1)
        w = self.pulsations
        q, dq, ddq = self.sampled_evenly(samples)
        size = np.hypot(self.sine, self.cosine)
        slack = (self.duration / samples) ** 2 / 8.0
        return Extremes(
            q.min(axis=0) - slack * size @ w**2,
            q.max(axis=0) + slack * size @ w**2,
            np.abs(dq).max(axis=0) + slack * size @ w**3,
            np.abs(ddq).max(axis=0) + slack * size @ w**4,
        )


def _amplitudes(values: ArrayLike, what: str, n: int) -> Array:
    matrix = as_matrix(values, f'fourier: {what}')
    if np.ndim(values) == 1:
        matrix = matrix.T
    if matrix.shape[0] != n:
        raise TrajectoryError(f'fourier: {what} has {matrix.shape[0]} rows for {n} joints')
    return matrix
