"""The bandwidth of the motion, for any noise and any steps of the encoders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run

Array = NDArray[np.float64]

# Share of the power of the velocity that counts as motion.
MOTION_SHARE = 0.99
# Bands of the spectrum: each is this many times as wide as the previous one.
BAND_RATIO = 1.125
# Samples that a spectrum needs.
FEWEST = 400
# A joint that is this many times slower than the fastest one may rest.
SLOWER_THAN_OTHERS = 0.03
# Bandwidth of a recording without any motion, cycles per sample.
LOWEST = 0.02


def motion_bandwidth(runs: Sequence[Run]) -> float:
    """
    Return the bandwidth of the motion of all runs in cycles per sample.

    Below it lie 99 % of the power of the velocity of every moving joint. Means over more and more
    samples are used until noise and steps of the encoders have less than 1 % of the power.
    """
    every = 1
    while True:
        means = [_means(run.position, every) for run in runs if len(run) >= 3 * every]
        if not means:
            return LOWEST / every
        bandwidth, noise = _bandwidth(np.concatenate([_tapered(q) for q in means]))
        if noise < 1.0 - MOTION_SHARE or sum(map(len, means)) < 2 * FEWEST:
            return bandwidth / every
        every *= 2


def _means(q: Array, every: int) -> Array:
    """Return the means of so many samples each."""
    blocks = len(q) // every
    return np.asarray(q[: blocks * every].reshape(blocks, every, -1).mean(axis=1))


def _tapered(q: Array) -> Array:
    """Return the differences of one run, which begin and end at zero."""
    v = np.diff(q, axis=0)
    return np.asarray((v - v.mean(axis=0)) * np.hanning(len(v))[:, None])


def _bandwidth(v: Array) -> tuple[float, float]:
    """
    Return the bandwidth in cycles per sample, and the largest share of the noise.

    White noise of the position has the spectrum 4 sin^2(pi f) sigma^2 in its differences.

    :param v: (N, n) differences of the positions.
    """
    P = np.abs(np.fft.rfft(v, axis=0)) ** 2
    f = np.arange(len(P)) / len(v)
    shape = 4 * np.sin(np.pi * f) ** 2
    high = f > 0.25
    floor = (P[high] / shape[high, None]).mean(axis=0)
    # Single lines of noise scatter by as much as they are; sums over bands of an eighth do not.
    first = np.unique(np.round(BAND_RATIO ** np.arange(np.log(len(P)) / np.log(BAND_RATIO))))
    starts = np.append(0, first[first < len(P)].astype(np.int64))
    counts = np.diff(np.append(starts, len(P)))[:, None]
    power = np.add.reduceat(P, starts, axis=0)
    noise = floor * np.add.reduceat(shape, starts)[:, None]
    power = np.maximum(power - noise * (1 + 4 / np.sqrt(counts)), 0.0)
    total = power.sum(axis=0)
    # A resting joint shows steps of its encoder, which are not white noise.
    moving = total > SLOWER_THAN_OTHERS**2 * total.max()
    if not moving.any():
        return LOWEST, 0.0
    share = np.cumsum(power[:, moving], axis=0) / total[moving]
    at = int((share < MOTION_SHARE).sum(axis=0).max())
    ends = np.append(starts[1:], len(P)) - 1
    bandwidth = float(np.clip(f[ends[min(at, len(ends) - 1)]], 2.0 / len(v), 0.1))
    return bandwidth, float((noise[:, moving].sum(axis=0) / P[:, moving].sum(axis=0)).max())
