"""Repairs of raw samples by the reader, each with a note and a finding for `check`."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.clock import rebuild
from robot_id.data.cleaning.unwrapping import TURN, unwrap
from robot_id.data.dataset import Repair
from robot_id.data.io.raw import Raw

# A larger share is not an error of a few stamps.
SHARE = 0.01
# Samples of the chain that stand alone: fewer than this many, a gap of many steps on either side.
ALONE, GAP = 8, 100.0


def misplaced_stamps(time: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """
    Return (N,) samples to leave out so that time never goes back.

    They are the samples outside of the longest increasing chain, and the few of it that stand far
    from all others (a damaged block has stamps of zero); None if these are more than 1 %.

    :param time: (N,) stamps in the order of arrival.
    """
    most = max(SHARE * time.size, 1.0)
    if (np.diff(time) < 0).sum() > most:
        return None
    # Patience sorting: ends[k] is the smallest last stamp of a chain of k + 1 samples.
    ends: list[float] = []
    last: list[int] = []
    before = np.full(time.size, -1)
    for i, stamp in enumerate(time.tolist()):
        k = bisect_right(ends, stamp)
        if k == len(ends):
            ends.append(stamp)
            last.append(i)
        else:
            ends[k], last[k] = stamp, i
        before[i] = last[k - 1] if k else -1
    if time.size - len(ends) > most:
        return None
    misplaced = np.ones(time.size, dtype=bool)
    at = last[-1]
    while at >= 0:
        misplaced[at] = False
        at = int(before[at])
    misplaced[_alone(time, np.flatnonzero(~misplaced))] = True
    return None if misplaced.sum() > most else misplaced


def _alone(time: NDArray[np.float64], chain: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the samples of a chain in small groups that are far from all others."""
    steps = np.diff(time[chain])
    groups = np.split(chain, np.flatnonzero(steps > GAP * np.median(steps)) + 1)
    return np.concatenate([group if len(group) < ALONE else group[:0] for group in groups])


def unwrapped(raw: Raw, notes: list[str], repairs: list[Repair]) -> Raw:
    """Undo the wrap-around of encoders."""
    if 'position' not in raw.channels or len(raw.time) < 3:
        return raw
    position, counts = unwrap(raw.channels['position'])
    if not any(counts):
        return raw
    turns = np.round((position - raw.channels['position']) / TURN)
    for name, count, own in zip(raw.joint_names, counts, turns.T):
        if count:
            times = tuple(raw.time[1:][np.diff(own) != 0.0].tolist())
            repairs.append(Repair('wrap_around', name, count, times=times))
            notes.append(f"{raw.source}: joint '{name}' wraps around {count} time(s), unwrapped")
    channels = {**raw.channels, 'position': position}
    reference = channels.get('reference_position')
    if reference is not None:
        own = unwrap(reference)[0]
        channels['reference_position'] = own + TURN * np.round(
            np.median((position - own) / TURN, axis=0)
        )
    return replace(raw, channels=channels)


def on_own_clock(raw: Raw, notes: list[str], repairs: list[Repair]) -> Raw:
    """Replace the stamps of a logger by the robot's own clock where the motion shows it."""
    position = raw.channels.get('position')
    if position is None or not np.isfinite(position).all():
        return raw
    clock = rebuild(raw.time, position, raw.channels.get('velocity'))
    if clock is None:
        return raw
    detail = (
        f'the stamps are off by {clock.jitter:.2g} of a step (rms), the motion fits a clock of '
        f'{clock.rate:.6g} Hz'
    )
    again = int((~clock.fresh).sum())
    if again:
        detail += f', {again} sample(s) repeat the previous state and are left out'
    repairs.append(Repair('stamps', detail=detail))
    notes.append(f'{raw.source}: {detail}: these are stamps of the logger, the clock is rebuilt')
    return replace(raw.take(np.flatnonzero(clock.fresh)), time=clock.time)
