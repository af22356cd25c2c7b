"""The rest band, from the data: the speed below which the direction of a joint is not known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals.processing import Processing, end_rows

Array = NDArray[np.float64]
# A joint that is slower than this share of its top speed for more than this share of the time
# stands still now and then; one that passes through zero is that slow for about 1 % of the time.
DWELL_SPEED, DWELL_SHARE = 0.01, 0.05
# Deviations of its noise that a speed must exceed for its sign to be known.
NOISE_DEVIATIONS = 4.0
# Slower speeds are rounding, rad/s or m/s.
ROUNDING = 1e-6
# A joint whose range is this small beside the largest one is held, not moved.
HELD = 1e-3
SAMPLES = 200_000


def resolve_rest_band(dataset: Dataset, processing: Processing) -> tuple[Array, str]:
    """
    Return (n,) the rest band of each joint in rad/s or m/s, and the reason for it.

    It is 4 deviations of the noise of the velocity, or the speed at which the position changes by
    one step of its resolution in a period of what the filters pass. A joint that often dwells
    holds or creeps below 1 % of its top speed, where friction is not sign(dq). A joint that is
    held throughout has no row at all.

    :param processing: resolved but for the rest band.
    """
    top = top_speeds(dataset)
    noise = NOISE_DEVIATIONS * velocity_noise(dataset, processing)
    step = resolution(dataset) * passed_hz(dataset.rate, processing)
    band = np.max([noise, step, np.full_like(top, ROUNDING)], axis=0)
    resting = dwell_band(dataset)
    dwelling, band = resting > 0.0, np.maximum(band, resting)
    held = held_joints(dataset)
    band = np.where(held, np.maximum(band, 2.0 * top), band)
    reason = 'slower velocities are lost in their noise'
    for flags, text in (
        (dwelling & ~held, 'often at rest: 1 % of the top speed'),
        (held, 'held in place: left out'),
    ):
        if flags.any():
            names = ', '.join(n for n, flag in zip(dataset.joint_names, flags) if flag)
            reason += f'; {names} {text}'
    return band, reason


def dwell_band(dataset: Dataset) -> Array:
    """(n,) 1 % of the top speed of each joint that often dwells, rad/s or m/s, else 0."""
    speed = DWELL_SPEED * top_speeds(dataset)
    return np.where(resting_share(dataset, speed) > DWELL_SHARE, speed, 0.0)


def held_joints(dataset: Dataset) -> NDArray[np.bool_]:
    """(n,) joints that are held in place throughout."""
    moved = ranges(dataset)
    return np.asarray(moved <= HELD * moved.max())


def resting_share(dataset: Dataset, speed: Array) -> Array:
    """(n,) share of the time in which each joint is slower than a speed."""
    slow, count = np.zeros(len(speed)), 0
    for run in dataset.runs:
        found = coarse_speeds(run)
        slow += np.sum(found < speed, axis=0)
        count += len(found)
    return slow / max(count, 1)


def top_speeds(dataset: Dataset) -> Array:
    """(n,) largest speed of each joint."""
    return np.max([coarse_speeds(run).max(axis=0) for run in dataset.runs], axis=0)


def coarse_speeds(run: Run, interval_s: float = 0.02) -> Array:
    """(M, n) speeds from differences over an interval that hides the noise."""
    every = max(1, min(round(interval_s * run.rate), len(run) - 1))
    return np.abs(np.diff(run.position[::every], axis=0)) / (every * run.step)


def ranges(dataset: Dataset) -> Array:
    """(n,) how far each joint moves in all runs, rad or m."""
    low = np.min([run.position.min(axis=0) for run in dataset.runs], axis=0)
    high = np.max([run.position.max(axis=0) for run in dataset.runs], axis=0)
    return np.asarray(high - low)


def velocity_noise(dataset: Dataset, processing: Processing) -> Array:
    """
    (n,) standard deviation of the velocities of the rows.

    White noise of deviation s on positions sampled at f Hz has the density 2 s^2 / f; what passes
    below B Hz, differentiated, has the variance 2 s^2 / f (2 pi)^2 B^3 / 3.
    """
    B, rate = passed_hz(dataset.rate, processing), dataset.rate
    return position_noise(dataset) * np.sqrt(2.0 / rate * (2.0 * np.pi) ** 2 * B**3 / 3.0)


def position_noise(dataset: Dataset) -> Array:
    """(n,) standard deviation of the positions above a fifth of the rate, see `white_noise`."""
    return white_noise([run.position[:SAMPLES] for run in dataset.runs])


def white_noise(positions: Sequence[Array]) -> Array:
    """
    (n,) standard deviation of positions above a fifth of the rate, as if it were white.

    A fourth difference of white noise has the variance 70 s^2, and no rigid motion is left in it.

    :param positions: (N, n) of each run.
    """
    differences = [np.diff(q, n=4, axis=0) for q in positions]
    squares = np.sum([np.sum(d**2, axis=0) for d in differences], axis=0)
    return np.sqrt(squares / (70.0 * max(sum(map(len, differences)), 1)))


def resolution(dataset: Dataset) -> Array:
    """(n,) the smallest change of each position, 0 where it never repeats a value."""
    steps = np.zeros(len(dataset.joint_names))
    for j in range(len(steps)):
        q = np.concatenate([run.position[:SAMPLES, j] for run in dataset.runs])
        change = np.abs(np.diff(q))
        moving = change[change > 1e-12 * max(float(np.abs(q).max()), 1e-12)]
        # A recording that often repeats a value has steps; else the smallest change is chance.
        if 0 < moving.size < 0.95 * change.size:
            steps[j] = float(np.percentile(moving, 1.0))
    return steps


def passed_hz(rate: float, processing: Processing) -> float:
    """Return the bandwidth of the filters of the positions and of the rows, in Hz."""
    band = 0.4 * rate / (processing.decimation or 1)
    if processing.decimation_filter == 'none' or processing.decimation == 1:
        band = rate / 2.0
    if processing.filter != 'none' and processing.cutoff_hz is not None:
        band = min(band, processing.cutoff_hz)
    return band


def rows_of_joints(dataset: Dataset, processing: Processing) -> Array:
    """
    (n,) decimated rows of each joint between the borders of all runs, without those at rest.

    :param processing: resolved; its rest band may be open.
    """
    factor, ends = processing.decimation or 1, end_rows(processing)
    total = np.zeros(len(dataset.joint_names))
    for run, share in zip(dataset.runs, _moving_shares(dataset)):
        samples = len(run) - 2 * (processing.border or 0)
        if samples >= max(2 * (ends + 1) * factor, 4):
            total += (-(-samples // factor) - 2 * ends) * share
    return total


def enough(rows: Array, needed: Array) -> bool:
    """
    Whether the joints that move have the rows that they need, most of them.

    A joint that moves for a short time has few, however they are made; the parameters it shares
    with the others are determined along with these.
    """
    moving = rows > 0.0
    if not moving.any():
        return False
    return bool(np.median((rows / needed)[moving]) >= 1.0)


def _moving_shares(dataset: Dataset) -> tuple[Array, ...]:
    """For each run (n,) the share of its time in which each joint is faster than its rest band."""

    def found() -> tuple[Array, ...]:
        band = np.where(held_joints(dataset), np.inf, dwell_band(dataset))
        return tuple((coarse_speeds(run) >= band).mean(axis=0) for run in dataset.runs)

    return dataset.kept.get('moving shares', found)
