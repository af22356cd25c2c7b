"""The recording at a modest rate: filtered positions, their derivatives, and torques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from robot_id.data.cleaning.clipping import clipped
from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals import filters
from robot_id.data.signals.decimation import RIPPLE_DB, decimate, stages
from robot_id.data.signals.derivatives import central_differences
from robot_id.data.signals.processing import even_factor
from robot_id.exceptions import DataError
from robot_id.tasks.checks.blocks import LARGEST, LONGEST, block_speeds, choose

Array = NDArray[np.float64]
# Positions are filtered at this many times the bandwidth of the motion, at most rate/5.
CUTOFF_MARGIN = 5.0
# Samples per period of the cut-off before the equations are filtered and decimated again.
OVERSAMPLING = 12.0
# Rms speeds of a joint that rests: rad/s, and m/s.
SLOWEST_TURN, SLOWEST_SLIDE = 0.03, 0.005
# Equations are filtered and one in this many is kept.
EQUATION_DECIMATION = 4
# Samples of a run that leave equations after that, and without the transients at both ends.
SHORTEST, WHOLE = 10 * EQUATION_DECIMATION, 18 * EQUATION_DECIMATION
# A joint whose torque is clipped in more than this share of its equations keeps them all.
MOSTLY_CLIPPED = 0.8
# Parts of a recording that are left out in turn, to try a change on what it was not fitted to.
PARTS = 8
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


@dataclass(frozen=True)
class Signals:
    """
    Filtered samples of all pieces, one after another.

    :param rate: of the samples, Hz.
    :param bandwidth: of the motion, Hz.
    :param pieces: (start, end) rows of each uninterrupted piece.
    :param q: (M, n) positions; dq, ddq their derivatives.
    :param tau: (M, n) torques.
    :param valid: (M, n) False where the torque was clipped.
    :param active: (M, n) False where a joint stands still for longer than its motion lasts: the
        friction in its torque has any size and sign.
    :param speed: (n,) rms speed of each joint where it is fastest.
    :param slides: (n,) joints that slide.
    :param spread: q, dq and ddq (S, n) of single samples from the whole recording: where it is
        long, the pieces show a small part of the motion only.
    """

    rate: float
    bandwidth: float
    pieces: tuple[tuple[int, int], ...]
    q: Array
    dq: Array
    ddq: Array
    tau: Array
    valid: NDArray[np.bool_]
    active: NDArray[np.bool_]
    speed: Array
    slides: NDArray[np.bool_]
    spread: tuple[Array, Array, Array]

    @cached_property
    def valid_equations(self) -> NDArray[np.bool_]:
        """(m, n) which filtered and decimated equations count: joints that move, no clipping."""
        free = self._equations(self.valid)
        free[:, free.mean(axis=0) < 1.0 - MOSTLY_CLIPPED] = True
        counted = free & self._equations(self.active)
        counted[:, ~counted.any(axis=0)] = True
        return counted

    def _equations(self, good: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which equations saw good samples only."""
        step, kept = EQUATION_DECIMATION, []
        for first, last in self.pieces:
            own = good[first:last]
            near = own.copy()
            for shift in range(1, step + 1):
                near[shift:] &= own[:-shift]
                near[:-shift] &= own[shift:]
            kept.append(near[::step][2:-2])
        return np.concatenate(kept)

    @cached_property
    def second_half(self) -> NDArray[np.bool_]:
        """(m,) equations of every other part: what is fitted to the others is tried on these."""
        sizes = [
            len(range(0, last - first, EQUATION_DECIMATION)) - 4 for first, last in self.pieces
        ]
        longest = max(sum(sizes) // PARTS, 1)
        return np.concatenate([_alternating(size, longest) for size in sizes])

    @cached_property
    def moving(self) -> NDArray[np.bool_]:
        """(n,) joints that move: not far slower than usual, and than the others."""
        slowest = np.where(self.slides, SLOWEST_SLIDE, SLOWEST_TURN)
        least = np.minimum(slowest, SLOWER_THAN_OTHERS * self.speed.max())
        return np.asarray(self.speed >= least)

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.q.shape[1]


def _alternating(size: int, longest: int) -> NDArray[np.bool_]:
    """(size,) flags of every other part of a piece, of two or more parts."""
    count = max(2 * round(size / (2 * longest)), 2)
    return np.arange(size) * count // max(size, 1) % 2 == 1


def prepare(dataset: Dataset, slides: NDArray[np.bool_]) -> Signals:
    """Return the recording at some twelve samples per period of its cut-off frequency."""
    # The order of the files says nothing.
    recorded = sorted(dataset.runs, key=_content)
    longest = max(map(len, recorded))
    bandwidth = motion_bandwidth(recorded)
    cutoff = min(CUTOFF_MARGIN * bandwidth, 0.2)
    factor = even_factor(1.0 / (OVERSAMPLING * cutoff))
    # Between many gaps there is little but transients of the filters.
    fewest = factor * (WHOLE if len(recorded) > 1 else SHORTEST)
    runs = [_states(run, factor, cutoff) for run in recorded if len(run) >= fewest]
    if not runs:
        raise DataError(
            f'{dataset.source or "data set"}: {longest} samples in the longest of '
            f'{len(recorded)} run(s) are too few to check: record longer, or without gaps'
        )
    speeds = [run[1] for run in runs]
    every_block = [
        (k, first, first + LONGEST)
        for k, run in enumerate(runs)
        for first in range(0, len(run[0]), LONGEST)
    ]
    speed = block_speeds(speeds, every_block).max(axis=0)
    standing = max(int(0.5 / (bandwidth * factor)), 1)
    active = [_active(dq, SLOWER_THAN_OTHERS * speed, standing) for dq in speeds]
    blocks = choose(speeds, WHOLE)
    ends = np.cumsum([last - first for _, first, last in blocks]).tolist()
    q, dq, ddq, tau, valid = (
        np.concatenate([runs[k][c][first:last] for k, first, last in blocks]) for c in range(5)
    )
    every = max(sum(map(len, speeds)) // LARGEST, 1)
    whole = [np.concatenate([run[k] for run in runs])[::every] for k in range(3)]
    rate = recorded[0].rate
    return Signals(
        rate / factor,
        bandwidth * rate,
        tuple(zip([0, *ends], ends)),
        q,
        dq,
        ddq,
        tau,
        valid.astype(bool),
        np.concatenate([active[k][first:last] for k, first, last in blocks]),
        speed,
        slides,
        (whole[0], whole[1], whole[2]),
    )


def _content(run: Run) -> tuple[int, bytes]:
    """Return a key by which runs are put in an order of their own."""
    return len(run), blake2b(run.position.tobytes()).digest()


def _active(dq: Array, slow: Array, samples: int) -> NDArray[np.bool_]:
    """(N, n) whether a joint is faster than this within so many samples on either side."""
    near = maximum_filter1d(np.abs(dq), 2 * samples + 1, axis=0, mode='nearest')
    return np.asarray(near > slow)


def _states(run: Run, factor: int, cutoff: float) -> tuple[Array, ...]:
    """Return q, dq, ddq, tau and its validity at the lower rate; cutoff in cycles per sample."""
    n = run.position.shape[1]
    both = np.hstack([run.position, run.torque])
    low = both
    if factor > 1:
        # Forward and backward, each stage passes constants with twice its ripple.
        low = decimate(both, factor) * 10 ** (2 * RIPPLE_DB * len(stages(factor)) / 20)
    step = run.step * factor
    q = filters.zero_phase(low[:, :n], 4, cutoff * factor, 1.0)
    dq, ddq = central_differences(q, step)
    # The ends of a run carry the transients of the filters.
    border = min(int(1.5 / (cutoff * factor)) + 2, len(q) // 8)
    cut = slice(border, len(q) - border)
    bad = clipped(run)[1]
    valid = np.ones((len(low), n))
    for k in range(-1, factor):
        late = bad[max(k, 0) :: factor][: len(low)]
        valid[: len(late)] *= ~late
    return q[cut], dq[cut], ddq[cut], low[cut, n:], valid[cut]
