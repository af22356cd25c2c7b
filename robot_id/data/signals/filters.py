"""Low-pass filters of the joint positions, and how far their transients reach."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A transient that decayed to this fraction is at the level of rounding.
NEGLIGIBLE = 1e-18
# A transient that decayed to this fraction no longer matters in an identification.
SMALL = 1e-3


@lru_cache(maxsize=32)
def butterworth(order: int, cutoff_hz: float, rate: float) -> Array:
    """Return the second-order sections of a digital Butterworth low-pass filter."""
    return scipy.signal.butter(order, cutoff_hz, fs=rate, output='sos')


@lru_cache(maxsize=32)
def settling(order: int, cutoff_hz: float, rate: float, fraction: float = NEGLIGIBLE) -> int:
    """
    Return the samples after which the slowest pole has decayed to a fraction.

    A pole p decays as |p|^k, so k = log(fraction) / log(max |p|).
    """
    _, poles, _ = scipy.signal.butter(order, cutoff_hz, fs=rate, output='zpk')
    return ceil(log(fraction) / log(float(np.abs(poles).max())))


def zero_phase(x: Array, order: int, cutoff_hz: float, rate: float) -> Array:
    """
    Filter forward and backward along axis 0, so that no phase is lost.

    The ends are extended by point reflection over the whole settling time, which keeps value and
    slope continuous where the run begins and ends.

    :param x: (N, ...) samples.
    """
    pad = min(settling(order, cutoff_hz, rate), x.shape[0] - 1)
    sections = butterworth(order, cutoff_hz, rate)
    return scipy.signal.sosfiltfilt(sections, x, axis=0, padtype='odd', padlen=pad)


def forward(x: Array, order: int, cutoff_hz: float, rate: float) -> Array:
    """
    Filter once, forward in time, as a causal on-line filter would.

    It delays the signal and so biases the estimates: it is here to show just that (table 1 of
    paper 004). The filter starts in its steady state for the first sample.

    :param x: (N, ...) samples.
    """
    sections = butterworth(order, cutoff_hz, rate)
    state = scipy.signal.sosfilt_zi(sections)
    state = state.reshape(state.shape + (1,) * (x.ndim - 1)) * x[0]
    return scipy.signal.sosfilt(sections, x, axis=0, zi=state)[0]
