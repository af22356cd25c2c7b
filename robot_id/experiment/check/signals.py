"""The recording at a modest rate: filtered positions, their derivatives, and torques."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robot_id.data import filters
from robot_id.data.clipping import clipped
from robot_id.data.dataset import Dataset, Run
from robot_id.data.decimation import RIPPLE_DB, decimate, stages
from robot_id.data.derivatives import central_differences
from robot_id.data.processing import even_factor
from robot_id.exceptions import DataError
from robot_id.experiment.check.bandwidth import SLOWER_THAN_OTHERS, motion_bandwidth

Array = NDArray[np.float64]

# Positions are filtered at this many times the bandwidth of the motion, at most rate/5.
CUTOFF_MARGIN = 5.0
# Samples per period of the cut-off before the equations are filtered and decimated again.
OVERSAMPLING = 12.0
# Rms speeds of a joint that rests: rad/s, and m/s.
SLOWEST_TURN, SLOWEST_SLIDE = 0.03, 0.005
# Largest number of equations per joint: blocks of long recordings are spread over their length.
LARGEST = 1200
BLOCKS = 6
# Equations are filtered and one in this many is kept.
EQUATION_DECIMATION = 4
# Samples of a run that leave equations after that, and without the transients at both ends.
SHORTEST, WHOLE = 10 * EQUATION_DECIMATION, 18 * EQUATION_DECIMATION


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
    slides: NDArray[np.bool_]
    spread: tuple[Array, Array, Array]

    def valid_equations(self) -> NDArray[np.bool_]:
        """(m, n) which filtered and decimated equations saw valid torques only, at least some."""
        step, kept = EQUATION_DECIMATION, []
        for first, last in self.pieces:
            good = self.valid[first:last]
            near = good.copy()
            for shift in range(1, step + 1):
                near[shift:] &= good[:-shift]
                near[:-shift] &= good[shift:]
            kept.append(near[::step][2:-2])
        flags = np.concatenate(kept)
        flags[:, flags.sum(axis=0) < 0.2 * len(flags)] = True
        return flags

    @cached_property
    def moving(self) -> NDArray[np.bool_]:
        """(n,) joints that move: not far slower than usual, and than the others."""
        speed = np.sqrt((self.dq**2).mean(axis=0))
        slowest = np.where(self.slides, SLOWEST_SLIDE, SLOWEST_TURN)
        return np.asarray(speed >= np.minimum(slowest, SLOWER_THAN_OTHERS * speed.max()))

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.q.shape[1]


def prepare(dataset: Dataset, slides: NDArray[np.bool_]) -> Signals:
    """Return the recording at some twelve samples per period of its cut-off frequency."""
    longest = max(dataset.runs, key=len)
    bandwidth = motion_bandwidth(longest)
    cutoff = min(CUTOFF_MARGIN * bandwidth, 0.2)
    factor = even_factor(1.0 / (OVERSAMPLING * cutoff))
    # Between many gaps there is little but transients of the filters.
    fewest = factor * (WHOLE if len(dataset.runs) > 1 else SHORTEST)
    runs = [_states(run, factor, cutoff) for run in dataset.runs if len(run) >= fewest]
    if not runs:
        raise DataError(
            f'{dataset.source or "data set"}: {len(longest)} samples in the longest of '
            f'{len(dataset.runs)} run(s) are too few to check: record longer, or without gaps'
        )
    parts = _blocks(runs)
    ends = np.cumsum([len(part[0]) for part in parts]).tolist()
    q, dq, ddq, tau, valid = (np.concatenate([part[k] for part in parts]) for k in range(5))
    every = max(sum(len(run[0]) for run in runs) // LARGEST, 1)
    whole = [np.concatenate([run[k] for run in runs])[::every] for k in range(3)]
    rate = longest.rate
    return Signals(
        rate / factor,
        bandwidth * rate,
        tuple(zip([0, *ends], ends)),
        q,
        dq,
        ddq,
        tau,
        valid.astype(bool),
        slides,
        (whole[0], whole[1], whole[2]),
    )


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
    bad = clipped(run.torque)[1]
    valid = np.ones((len(low), n))
    for k in range(-1, factor):
        late = bad[max(k, 0) :: factor][: len(low)]
        valid[: len(late)] *= ~late
    return q[cut], dq[cut], ddq[cut], low[cut, n:], valid[cut]


def _blocks(runs: list[tuple[Array, ...]]) -> list[tuple[Array, ...]]:
    """Return all runs, or blocks spread over their length that hold LARGEST samples or fewer."""
    if sum(len(run[0]) for run in runs) <= LARGEST:
        return runs
    size, blocks = LARGEST // BLOCKS, []
    for run in runs:
        count = max(len(run[0]) // size, 1)
        starts = np.linspace(0, max(len(run[0]) - size, 0), count).astype(int)
        blocks += [tuple(each[s : s + size] for each in run) for s in starts]
    mean = sum(len(block[0]) for block in blocks) / len(blocks)
    chosen = np.linspace(0, len(blocks) - 1, max(int(LARGEST / mean), 1)).round().astype(int)
    return [blocks[k] for k in np.unique(chosen)]
