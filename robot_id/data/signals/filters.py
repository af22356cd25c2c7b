"""Low-pass filters of the joint positions, and how far their transients reach."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, cos, log, pi, sqrt, tan

import numpy as np
from numpy.typing import NDArray

from robot_id.kernel_cache import njit

Array = NDArray[np.float64]

# A transient that decayed to this fraction is at the level of rounding.
NEGLIGIBLE = 1e-18
# A transient that decayed to this fraction no longer matters in an identification.
SMALL = 1e-3


@lru_cache(maxsize=32)
def butterworth(order: int, cutoff_hz: float, rate: float) -> Array:
    """
    Return the second-order sections of a digital Butterworth low-pass filter.

    The bilinear transform s = c (z - 1) / (z + 1), c = 1 / tan(pi f / rate), of the poles that lie
    evenly on the left half of the unit circle; the gain of each section at rest is one.

    :return: (S, 6) rows b0 b1 b2 a0 a1 a2, a0 = 1, those with the least overshoot first.
    """
    c = 1.0 / tan(pi * cutoff_hz / rate)
    sections = []
    if order % 2:
        sections.append(np.array([1.0, 1.0, 0.0, c + 1.0, 1.0 - c, 0.0]))
    for k in range(order // 2):
        # Twice the cosine of the angle between a pair of poles and the negative real axis.
        width = 2.0 * cos(pi * (2 * k + 1 + order % 2) / (2.0 * order))
        denominator = (c * c + width * c + 1.0, 2.0 - 2.0 * c * c, c * c - width * c + 1.0)
        sections.append(np.array([1.0, 2.0, 1.0, *denominator]))
    return np.array([section / section[3] for section in sections])


def steady_state(sections: Array) -> Array:
    """Return the memory (S, 2) of the sections after a long input of one, see `run_sections`."""
    return np.stack([1.0 - sections[:, 0], sections[:, 2] - sections[:, 5]], axis=1)


@njit(cache=True)
def run_sections(sections: Array, state: Array, x: Array, backward: bool) -> None:
    """
    Filter x (N, C) in place, section by section in transposed direct form II.

    :param state: (S, 2, C) memory before and after.
    :param backward: from the last sample to the first.
    """
    N, C = x.shape
    for k in range(N):
        row = x[N - 1 - k] if backward else x[k]
        for s in range(sections.shape[0]):
            b0, b1, b2 = sections[s, 0], sections[s, 1], sections[s, 2]
            a1, a2 = sections[s, 4], sections[s, 5]
            first, second = state[s, 0], state[s, 1]
            for c in range(C):
                value = row[c]
                out = b0 * value + first[c]
                first[c] = b1 * value - a1 * out + second[c]
                second[c] = b2 * value - a2 * out
                row[c] = out


@lru_cache(maxsize=32)
def settling(order: int, cutoff_hz: float, rate: float, fraction: float = NEGLIGIBLE) -> int:
    """
    Return the samples after which the slowest pole has decayed to a fraction.

    A pole p decays as |p|^k, so k = log(fraction) / log(max |p|); a pair has |p|^2 = a2.
    """
    sections = butterworth(order, cutoff_hz, rate)
    slowest = max(sqrt(a2) if a2 else abs(a1) for *_, a1, a2 in sections.tolist())
    return ceil(log(fraction) / log(slowest))


def zero_phase(x: Array, order: int, cutoff_hz: float, rate: float) -> Array:
    """
    Filter forward and backward along axis 0, so that no phase is lost.

    The ends are extended by point reflection over the whole settling time, which keeps value and
    slope continuous where the run begins and ends.

    :param x: (N, ...) samples.
    """
    N = x.shape[0]
    pad = min(settling(order, cutoff_hz, rate), N - 1)
    flat = x.reshape(N, -1)
    wide = np.empty((N + 2 * pad, flat.shape[1]))
    wide[pad : pad + N] = flat
    wide[:pad] = 2.0 * flat[0] - flat[1 : pad + 1][::-1]
    wide[pad + N :] = 2.0 * flat[-1] - flat[N - 1 - pad : N - 1][::-1]
    _run(wide, order, cutoff_hz, rate, backward=False)
    _run(wide, order, cutoff_hz, rate, backward=True)
    return wide[pad : pad + N].reshape(x.shape)


def forward(x: Array, order: int, cutoff_hz: float, rate: float) -> Array:
    """
    Filter once, forward in time, as a causal on-line filter would.

    It delays the signal and so biases the estimates: it is here to show just that (table 1 of
    paper 004). The filter starts in its steady state for the first sample.

    :param x: (N, ...) samples.
    """
    flat = np.array(x, float).reshape(x.shape[0], -1)
    _run(flat, order, cutoff_hz, rate, backward=False)
    return flat.reshape(x.shape)


def _run(x: Array, order: int, cutoff_hz: float, rate: float, backward: bool) -> None:
    """Filter (N, C) in place from the steady state of the sample that comes first."""
    sections = butterworth(order, cutoff_hz, rate)
    state = steady_state(sections)[:, :, None] * x[-1 if backward else 0]
    run_sections(sections, state, x, backward)


def without_line(x: Array) -> Array:
    """Return x (N, ...) less the straight line through it in the sense of least squares."""
    t = np.arange(len(x)) - 0.5 * (len(x) - 1)
    centred = x - x.mean(axis=0)
    return centred - np.multiply.outer(t, t @ centred / max(t @ t, 1.0))
