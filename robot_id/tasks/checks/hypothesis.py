"""
A hypothesis: one change of the recording or of the robot file that may explain the torques.

Its trial tells what the change leaves of torques that it was not fitted to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from robot_id.tasks.checks.models import Explanation
from robot_id.tasks.checks.signals import Signals

Array = NDArray[np.float64]
# Factor by which a change must lower the error, and by which chance may raise it.
CLEAR, CHANCE = 1.25, 1.03
# Inertias of the robot file that leave less than this of the torques do not speak against them.
EXPLAINED = 0.1


def helps(before: Explanation, after: Explanation, joints: tuple[int, ...]) -> bool:
    """
    Return whether who obeys a change gets a better model.

    The errors of the free model, of the fit and of the half that it has not seen, are what a fit
    of the changed data would have: they must not rise, neither those of the joints that the
    change names nor those of all. One of the two models must get clearly better: the zero of a
    last link, for example, shows only against the inertias of the robot file.

    :param joints: that the change is about, none for all of them.
    """
    named = np.zeros(before.moving.size, bool)
    named[list(joints)] = True
    named &= before.moving
    if not named.any():
        named = before.moving
    fit = _ratios(before.free, after.free, named, before.moving)
    held_out = _ratios(before.held_out, after.held_out, named, before.moving)
    if min(*fit, *held_out) * CHANCE < 1.0:
        return False
    if held_out[0] > CLEAR and min(*fit, *held_out) > 1.0:
        return True
    if before.prior is None or after.prior is None:
        return False
    prior = _ratios(before.prior, after.prior, named, before.moving)
    return rms(before.prior[before.moving]) > EXPLAINED and prior[0] > CLEAR and prior[1] > 1.0


def _ratios(
    before: Array, after: Array, named: NDArray[np.bool_], every: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return error before / after of the named joints, and of all."""
    of_named, of_all = (rms(before[which]) / rms(after[which]) for which in (named, every))
    return of_named, of_all


def rms(values: Array) -> float:
    """Return the root of the mean of the squares."""
    return float(np.sqrt((values**2).mean()))


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
