"""Plausibility of measurements: wrong units, wrong joints, a drive that was off."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.data.dataset import Dataset

Array = NDArray[np.float64]

# Without known limits a joint that turns further than this is suspicious.
SEVERAL_TURNS = 6 * pi
# Measurements this many times beyond a limit are another unit, not a strong robot.
FAR_BEYOND = 3.0


def check_plausible(
    dataset: Dataset,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    prismatic: Sequence[bool] | None = None,
) -> list[str]:
    """
    Return one line for each thing that looks wrong, none when all is well.

    :param lower: (n,) position limits, rad or m; infinite or None where not known.
    :param upper: (n,) the same.
    :param velocity: (n,) velocity limits.
    :param torque: (n,) torque limits, N.m or N.
    :param prismatic: (n,) flags of joints that slide.
    """
    n = len(dataset.joint_names)
    low, high = _limits(lower, n, -np.inf), _limits(upper, n, np.inf)
    speed, effort = _limits(velocity, n, np.inf), _limits(torque, n, np.inf)
    slides = prismatic if prismatic is not None else [False] * n
    warnings = []
    for j, name in enumerate(dataset.joint_names):
        q = [run.position[:, j] for run in dataset.runs]
        where = f"{dataset.source or 'data set'}: joint '{name}'"
        warnings += _position(
            where, min(map(np.min, q)), max(map(np.max, q)), low[j], high[j], bool(slides[j])
        )
        fastest = max(
            float(np.abs(np.diff(run.position[:, j])).max()) * run.rate for run in dataset.runs
        )
        if np.isfinite(speed[j]) and fastest > FAR_BEYOND * speed[j]:
            warnings.append(
                f'{where}: moves at up to {fastest:.4g} per s, its limit is {speed[j]:.4g}: '
                'wrong unit, wrong rate, or jumps in the position'
            )
        if all(np.ptp(values) == 0.0 for values in q):
            warnings.append(f'{where}: the position never changes')
        if not dataset.has_torque:
            continue
        tau = max(float(np.abs(run.torque[:, j]).max()) for run in dataset.runs)
        if np.isfinite(effort[j]) and tau > FAR_BEYOND * effort[j]:
            unit = ' (N.mm in place of N.m?)' if tau > 100 * effort[j] else ''
            warnings.append(f'{where}: torque of {tau:.4g}, its limit is {effort[j]:.4g}{unit}')
        if tau == 0.0:
            warnings.append(f'{where}: the torque is zero throughout')
        elif all(np.ptp(run.torque[:, j]) == 0.0 for run in dataset.runs):
            warnings.append(f'{where}: the torque never changes')
    return warnings


def _position(
    where: str, smallest: float, largest: float, low: float, high: float, slides: bool
) -> list[str]:
    """Compare the range of a joint with its limits, or with the usual range of joints."""
    reach = max(abs(smallest), abs(largest))
    span = high - low
    if np.isfinite(span) and span > 0:
        beyond = max(low - smallest, largest - high) / span
        if beyond <= 0.05:
            return []
        hint = ''
        if beyond > 1.0:
            hint = ' (mm in place of m?)' if slides else ' (degrees in place of radians?)'
        return [
            f'{where}: positions from {smallest:.4g} to {largest:.4g}, its limits are {low:.4g} '
            f'to {high:.4g}{hint}'
        ]
    if not slides and reach > SEVERAL_TURNS:
        return [
            f'{where}: positions up to {reach:.4g} rad, {reach / (2 * pi):.0f} turns (degrees in '
            'place of radians, or motor side?)'
        ]
    return []


def _limits(values: ArrayLike | None, n: int, default: float) -> Array:
    return np.full(n, default) if values is None else np.broadcast_to(np.asarray(values, float), n)
