"""Checks at the entry of the data room: finite numbers of a possible size, possible rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id import budget
from robot_id.data.cleaning.cleaning import Raw
from robot_id.exceptions import DataError

Array = NDArray[np.float64]

# No position, torque or time of a robot is larger in SI units; one flipped bit makes 1e89.
LARGEST = 1e12
# Factors between units of 1e-12 and 1: what a smaller one makes is nothing.
SMALLEST_SCALE = 1.0 / LARGEST
# From nanoseconds taken for seconds, which the check names, to what no drive can do.
LOWEST_HZ, HIGHEST_HZ = 1e-8, 1e6


def checked(raw: Raw, notes: list[str], rate_hz: float | None = None) -> Raw:
    """
    Return samples that the room can work with; refuse what is impossible as a whole.

    Single values beyond 1e12 count as not finite, which the cleaning removes with a note.

    :param rate_hz: rate that they will be resampled to, None for their own.
    """
    time = _plausible(raw, 'time', raw.time[:, None], ('',), notes)[:, 0]
    channels = {
        name: _plausible(raw, name, values, raw.joint_names, notes)
        for name, values in raw.channels.items()
    }
    seconds = time[np.isfinite(time)]
    if seconds.size > 1:
        _check_rate(raw.source, seconds)
        if rate_hz is not None:
            columns = 1 + sum(values.shape[1] for values in channels.values())
            wanted = int(np.ptp(seconds) * rate_hz) * columns * 8
            budget.check_memory(wanted, 0, f'{raw.source}: {rate_hz:g} Hz (rate_hz)')
    return replace(raw, time=time, channels=channels)


def _plausible(
    raw: Raw, name: str, values: Array, joints: tuple[str, ...], notes: list[str]
) -> Array:
    """Return values with NaN in place of those beyond any robot."""
    with np.errstate(invalid='ignore'):
        wrong = np.isfinite(values) & ~(np.abs(values) <= LARGEST)
    count = int(wrong.any(axis=1).sum())
    if not count:
        return values
    row, joint = np.argwhere(wrong)[0]
    of = f" of joint '{joints[joint]}'" if joints[joint] else ''
    what = f'{raw.source}: {name}{of} is {values[row, joint]:.3g} in row {raw.first_row + row}'
    if count > len(values) / 2:
        raise DataError(f'{what} and {count - 1} more: wrong unit or damaged?')
    notes.append(f'{what}: {count} row(s) with impossible values are left out')
    return np.where(wrong, np.nan, values)


def _check_rate(source: str, seconds: Array) -> None:
    """Refuse stamps that no recording has, such as seconds that were taken for something else."""
    steps = np.diff(seconds)
    steps = steps[steps > 0]
    step = float(np.median(steps)) if steps.size else float(np.ptp(seconds))
    if step and not LOWEST_HZ <= 1.0 / max(step, 1e-300) <= HIGHEST_HZ:
        raise DataError(
            f'{source}: the stamps are {step:.3g} s apart, must be between {1 / HIGHEST_HZ:g} '
            f"and {1 / LOWEST_HZ:g} s: is the 'unit' of time right?"
        )
