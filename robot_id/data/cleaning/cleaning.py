"""From raw stamped samples to uniformly sampled runs, with a note for each change."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.repairs import misplaced_stamps, on_own_clock, unwrapped
from robot_id.data.cleaning.resampling import ROUGH, interpolate
from robot_id.data.cleaning.stamps import GAP
from robot_id.data.dataset import Repair, Run
from robot_id.data.io.raw import Raw
from robot_id.exceptions import DataError

Array = NDArray[np.float64]

# Up to this many steps without a sample are filled by interpolation, more split the run.
LARGEST_HOLE = 5.5
# Stamps this near to a uniform grid (in steps) are that grid, written with few digits.
ROUNDING = 0.02
# Messages may overtake each other by this many places; more is a clock that was set back.
REORDERING = 100
# A rate this close to a whole number of Hz is that number.
NOMINAL = 0.005
# Stamps nearer than this [s] are the same: interpolation between them would end in infinity.
SAME_STAMP = 1e-9
# Shorter pieces between gaps are of no use.
SHORTEST = 8


def clean(
    raw: Raw, rate_hz: float | None = None, repairs: list[Repair] | None = None
) -> tuple[list[Run], list[str]]:
    """
    Return uniform runs and what was done to get them; refuse what cannot be repaired.

    Encoders that wrap around are unwrapped, and stamps of a logger replaced by the robot's own
    clock where the motion shows it.

    Samples that are not finite are removed, stamps are sorted, gaps split the run, and irregular
    samples are resampled (4-point cubic for positions and velocities, linear for the rest).

    :param rate_hz: rate to resample to; the rate of the data when None.
    :param repairs: receives repairs that a good recording would not need.
    """
    notes: list[str] = []
    repairs = [] if repairs is None else repairs
    raw = _finite(raw, notes)
    raw = _in_order(raw, notes)
    raw = unwrapped(raw, notes, repairs)
    raw = on_own_clock(raw, notes, repairs)
    if raw.time.shape[0] < 2:
        raise DataError(
            f'{raw.source}: {raw.time.shape[0]} sample(s), at least 2 are needed', code='too_short'
        )
    steps = np.diff(raw.time)
    step = _step(steps) if rate_hz is None else 1.0 / rate_hz
    limit = LARGEST_HOLE * float(np.median(steps))
    ends = np.flatnonzero(steps > limit) + 1
    for end in ends[:3]:
        notes.append(
            f'{raw.source}: gap of {steps[end - 1]:.4g} s before {raw.place(int(end))}: '
            'the run is split there'
        )
    if len(ends) > 3:
        notes.append(f'{raw.source}: {len(ends) - 3} more gaps, each splits the run')
    runs = []
    borders = [0, *ends.tolist(), raw.time.shape[0]]
    changed = _Changes()
    for first, last in pairwise(borders):
        if last - first < min(SHORTEST, raw.time.shape[0]):
            notes.append(
                f'{raw.source}: {last - first} sample(s) between gaps at '
                f'{raw.place(first)} are left out'
            )
            continue
        runs.append(_uniform(raw, first, last, step, rate_hz is not None, changed))
    if not runs:
        raise DataError(
            f'{raw.source}: all pieces between gaps have fewer than {SHORTEST} samples'
        )
    notes += changed.notes(raw.source, step)
    return runs, notes


def _finite(raw: Raw, notes: list[str]) -> Raw:
    """Remove rows with NaN or infinite values."""
    good = np.isfinite(raw.time)
    places = [f'time, row {raw.first_row + int(i)}' for i in np.flatnonzero(~good)[:1]]
    for name, values in raw.channels.items():
        finite = np.isfinite(values)
        if finite.all():
            continue
        row, joint = np.argwhere(~finite)[0]
        places.append(f"{name} of joint '{raw.joint_names[joint]}', {raw.place(int(row))}")
        good &= finite.all(axis=1)
    if not places:
        return raw
    lost = int(good.size - good.sum())
    if lost > good.size / 2:
        raise DataError(
            f'{raw.source}: {lost} of {good.size} rows are not finite, {places[0]}',
            code='not_finite',
        )
    notes.append(
        f'{raw.source}: {lost} row(s) with NaN or infinite values removed, first: '
        + '; '.join(places)
    )
    return raw.take(np.flatnonzero(good))


def _in_order(raw: Raw, notes: list[str]) -> Raw:
    """Sort the stamps and remove repeated samples."""
    steps = np.diff(raw.time)
    if steps.size == 0 or steps.min() > SAME_STAMP:
        return raw
    backward = np.flatnonzero(steps < 0)
    if backward.size:
        order = np.argsort(raw.time, kind='stable')
        moved = int(np.abs(order - np.arange(order.size)).max())
        at = int(backward[0]) + 1
        moved_far = moved > REORDERING or backward.size > 0.2 * order.size
        set_back = -steps.min() > REORDERING * float(np.median(np.abs(steps)))
        if (moved_far or set_back) and (misplaced := misplaced_stamps(raw.time)) is not None:
            notes.append(
                f'{raw.source}: {int(misplaced.sum())} sample(s) with a stamp from another time '
                f'are left out, first at {raw.place(int(np.flatnonzero(misplaced)[0]))}'
            )
            return _in_order(raw.take(np.flatnonzero(~misplaced)), notes)
        if moved_far:
            raise DataError(
                f'{raw.source}: time goes back from {raw.time[at - 1]:.6g} s at {raw.place(at)}: '
                'a clock that was set back or several recordings in one; give each part by '
                "'rows' in the mapping",
                code='time_goes_back',
            )
        notes.append(
            f'{raw.source}: {backward.size} stamp(s) out of order were sorted, first at '
            f'{raw.place(at)}'
        )
        raw = raw.take(order)
        steps = np.diff(raw.time)
    repeated = np.flatnonzero(steps <= SAME_STAMP) + 1
    if repeated.size == 0:
        return raw
    channels = dict(raw.channels)
    for name, values in raw.channels.items():
        differ = np.flatnonzero((values[repeated] != values[repeated - 1]).any(axis=1))
        if name == 'control':
            # A state that was sent again until its command came: the last command is the answer.
            channels[name] = values.copy()
            for row in repeated[::-1]:
                channels[name][row - 1] = channels[name][row]
        elif differ.size:
            place = raw.place(int(repeated[differ[0]]))
            raise DataError(
                f'{raw.source}: two samples with the stamp of {place} and different {name}: are '
                "the stamps too coarse? Then give 'rate_hz' and no 'time'",
                code='equal_stamps',
            )
    notes.append(
        f'{raw.source}: {repeated.size} repeated sample(s) removed, first at '
        f'{raw.place(int(repeated[0]))}'
    )
    keep = np.ones(raw.time.size, dtype=bool)
    keep[repeated] = False
    return replace(raw, channels=channels).take(np.flatnonzero(keep))


def _step(steps: Array) -> float:
    """Return the sampling period: the mean step without holes, or that of a whole rate near it."""
    step = float(steps[steps < GAP * np.median(steps)].mean())
    nominal = round(1.0 / step)
    return 1.0 / nominal if nominal and abs(nominal * step - 1.0) < NOMINAL else step


class _Changes:
    """What was done to the pieces of one recording, noted once for all of them."""

    def __init__(self) -> None:
        self.resampled = self.filled = self.rounded = 0
        self.jitter = 0.0

    def notes(self, source: str, step: float) -> list[str]:
        lines = []
        if self.resampled:
            lines.append(
                f'{source}: irregular stamps (up to {100 * self.jitter:.0f} % of a step off), '
                f'{self.resampled} samples resampled to {1 / step:.6g} Hz'
            )
        if self.filled:
            lines.append(f'{source}: {self.filled} short hole(s) filled by interpolation')
        if self.rounded:
            lines.append(f'{source}: rounded stamps replaced by a uniform grid')
        return lines


def _uniform(raw: Raw, first: int, last: int, step: float, forced: bool, changed: _Changes) -> Run:
    """Return a piece without gaps as a run with a constant step."""
    time = raw.time[first:last]
    own = float((time[-1] - time[0]) / (time.size - 1))
    grid = time[0] + own * np.arange(time.size)
    off = float(np.abs(time - grid).max()) / own
    same = abs(own - step) <= (1e-6 if forced else 2 * NOMINAL) * step
    if off <= ROUNDING and same:
        changed.rounded += off > 1e-6
        same_rows = {name: values[first:last] for name, values in raw.channels.items()}
        return Run.of(grid if off > 1e-9 else time, same_rows)
    changed.jitter = max(changed.jitter, float(np.abs(np.diff(time) / step - 1).max()))
    changed.filled += int((np.diff(time) > GAP * max(step, own)).sum())
    grid = time[0] + step * np.arange(int((time[-1] - time[0]) / step + 1e-9) + 1)
    changed.resampled += grid.size
    channels = {
        name: interpolate(time, values[first:last], grid, cubic=name not in ROUGH)
        for name, values in raw.channels.items()
    }
    return Run.of(grid, channels)


__all__ = ['Raw', 'clean']
