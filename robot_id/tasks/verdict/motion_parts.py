"""
A recording split into parts that are new to each other, to fit some and judge on the others.

Every run is cut into segments, and every segment into as many contiguous pieces of equal moving
time as there are parts: each part has a piece of every segment of every file, so that all joints
that move, and all that changes with time, are in all parts. Motion that repeats earlier motion
belongs to the part of that one, so that no part holds a repetition of another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.regression.preprocessing.rest_band import HELD, ranges, top_speeds
from robot_id.tasks.verdict.repeated_motion import SeenMotion

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Labels = NDArray[np.intp]
# A joint moves when it is faster than this share of its top speed.
MOVING = 0.02
INTERVAL_S = 0.02
# Length of the segments; joints that move for a short time, and motion that repeats itself soon,
# need shorter ones.
SEGMENTS_S = (10.0, 5.0, 2.5)
# How far the share of a joint's motion in a part may be off, of that share.
UNEVEN = 0.5


@dataclass(frozen=True)
class MotionParts:
    """
    Which part each sample belongs to.

    :param labels: for each run (N,) 0 ... count - 1.
    :param count: number of parts.
    :param shares: (count, n + 1) share of the motion of each joint, and of all of it.
    :param repeated: the motion repeats itself too soon: the parts hold the same motion.
    """

    labels: tuple[Labels, ...]
    count: int
    shares: Array
    repeated: bool = False

    @property
    def unevenness(self) -> Array:
        """(count,) how far the shares of a part are off, of the share it should have."""
        return np.abs(self.count * self.shares - 1.0).max(axis=1)

    def most_even(self) -> int:
        """Return the part whose shares are nearest to what they should be, the last of such."""
        return self.count - 1 - int(np.argmin(self.unevenness[::-1].round(1)))


def split_motion(dataset: Dataset, count: int) -> MotionParts:
    """
    Return a recording in parts; kept with the data.

    :param count: how many.
    """
    return dataset.kept.get(('motion parts', count), lambda: _split(dataset, count))


def _split(dataset: Dataset, count: int) -> MotionParts:
    top, scale = top_speeds(dataset), ranges(dataset)
    scale = np.where(scale > HELD * scale.max(), scale, 0.0)
    moving = [_moving(run, top) & (scale > 0.0) for run in dataset.runs]
    duration_s, tried = sum(run.duration for run in dataset.runs), []
    for segment_s in SEGMENTS_S:
        seen = SeenMotion(scale, duration_s)
        tried.append(_parts(dataset, moving, count, segment_s, seen))
        if tried[-1].unevenness.min() <= UNEVEN:
            return tried[-1]
    best = min(tried, key=lambda parts: float(parts.unevenness.min()))
    if best.shares[best.most_even(), -1] * count >= UNEVEN:
        return best
    return replace(_parts(dataset, moving, count, SEGMENTS_S[0], None), repeated=True)


def _parts(
    dataset: Dataset, moving: list[Flags], count: int, segment_s: float, seen: SeenMotion | None
) -> MotionParts:
    """Return parts by segments of a length; `seen` tells what repeats an earlier one."""
    labels = []
    shares = np.zeros((count, len(dataset.joint_names) + 1))
    for run, flags in zip(dataset.runs, moving):
        own = np.empty(len(run), int)
        any_joint = np.asarray(flags.any(axis=1))
        for k, (first, last) in enumerate(_pieces(run, any_joint, count, segment_s)):
            part = k % count
            own[first:last] = part
            if seen is not None:
                own[first:last] = seen.labels(run, first, last, part)
        if seen is not None:
            seen.end_run()
        labels.append(own)
        for part in range(count):
            shares[part, :-1] += flags[own == part].sum(axis=0)
            shares[part, -1] += any_joint[own == part].sum()
    total = shares.sum(axis=0)
    # A joint that does not move is in no part: it counts as evenly spread.
    shares = np.where(total > 0, shares / np.maximum(total, 1), 1.0 / count)
    return MotionParts(tuple(labels), count, shares)


def _pieces(run: Run, moving: Flags, count: int, segment_s: float) -> list[tuple[int, int]]:
    """Return `count` pieces (first, last) of equal moving time of each segment of a run."""
    so_far = np.concatenate([[0], np.cumsum(moving)])
    segments = max(1, int(so_far[-1] * run.step / segment_s))
    wanted = np.linspace(0.0, so_far[-1], segments * count + 1)[1:-1]
    cuts = np.searchsorted(so_far, wanted)
    return list(pairwise([0, *cuts.tolist(), len(run)]))


def _moving(run: Run, top: Array) -> Flags:
    """(N, n) samples at which each joint moves."""
    every = max(1, min(round(INTERVAL_S * run.rate), len(run) - 1))
    flags = np.zeros(run.position.shape, bool)
    speed = np.abs(run.position[every:] - run.position[:-every]) / (every * run.step)
    flags[every:] = speed > MOVING * np.maximum(top, 1e-300)
    return flags


def intervals(flags: Flags) -> list[tuple[int, int]]:
    """Return (first, last) of each stretch of samples with a flag."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
