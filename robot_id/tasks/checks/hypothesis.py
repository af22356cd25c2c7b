"""A hypothesis: one change of the recording or of the robot file that may explain the torques."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from robot_id.tasks.checks.signals import Signals

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Hypothesis:
    """
    What would have to be changed; the defaults change nothing.

    :param position_columns: which recorded column is the position of joint j.
    :param torque_columns: which recorded column is the torque of joint j.
    :param position_scale: (n,) factors.
    :param torque_scale: (n,) factors.
    :param offset: (n,) added to the positions.
    :param delay: seconds by which the torques were recorded late.
    :param gravity: (3,) m/s^2 in the base frame.
    :param time_scale: factor on the time.
    :param lengths: (nb,) factors on the distances of the joints of the robot file.
    """

    position_columns: tuple[int, ...] | None = None
    torque_columns: tuple[int, ...] | None = None
    position_scale: tuple[float, ...] | None = None
    torque_scale: tuple[float, ...] | None = None
    offset: tuple[float, ...] | None = None
    delay: float = 0.0
    gravity: tuple[float, ...] | None = None
    lengths: tuple[float, ...] | None = None
    time_scale: float = 1.0

    def apply(self, signals: Signals) -> Signals:
        """Return the signals as they would be without the mistake."""
        tau = signals.tau
        q, dq, ddq = self.motion((signals.q, signals.dq, signals.ddq))
        if self.torque_columns is not None:
            tau = tau[:, list(self.torque_columns)]
        if self.torque_scale is not None:
            tau = tau * np.array(self.torque_scale)
        if self.delay:
            tau = _earlier(tau, self.delay * signals.rate, signals.pieces)
        return replace(signals, q=q, dq=dq, ddq=ddq, tau=tau)

    def motion(self, recorded: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        """Return q, dq and ddq as they would be without the mistake."""
        q, dq, ddq = recorded
        if self.position_columns is not None:
            columns = list(self.position_columns)
            q, dq, ddq = q[:, columns], dq[:, columns], ddq[:, columns]
        if self.position_scale is not None:
            factor = np.array(self.position_scale)
            q, dq, ddq = q * factor, dq * factor, ddq * factor
        if self.offset is not None:
            q = q + np.array(self.offset)
        if self.time_scale != 1.0:
            dq, ddq = dq / self.time_scale, ddq / self.time_scale**2
        return q, dq, ddq


def _earlier(tau: Array, samples: float, pieces: tuple[tuple[int, int], ...]) -> Array:
    """Return torques shifted by a number of samples, the ends held."""
    out = np.empty_like(tau)
    for first, last in pieces:
        at = np.arange(last - first, dtype=float)
        spline = scipy.interpolate.make_interp_spline(at, tau[first:last], k=3)
        out[first:last] = spline(np.clip(at + samples, 0.0, at[-1]))
    return out


def exchanged(n: int, i: int, j: int) -> tuple[int, ...]:
    """Return the columns 0 .. n - 1 with two of them exchanged."""
    columns = list(range(n))
    columns[i], columns[j] = j, i
    return tuple(columns)


def only(n: int, j: int, value: float, other: float) -> tuple[float, ...]:
    """Return one value for joint j and another for all others."""
    values = [other] * n
    values[j] = value
    return tuple(values)
