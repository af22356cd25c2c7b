"""
Options of a Processing that are not given, derived from the data with a reason.

Each option is derived from the data and from the values of those before it (cut-off, decimation,
borders, rest band), never from whether they were given: giving a derived value explicitly changes
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import pi
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import (
    LARGEST_CUTOFF,
    Processing,
    even_factor,
)
from robot_id.data.signals.processing import resolve as fill_in
from robot_id.dynamics.acting_rows import acting_columns
from robot_id.regression.preprocessing.cutoff import resolve_cutoff
from robot_id.regression.preprocessing.rest_band import (
    dwell_band,
    enough,
    resolve_rest_band,
    rows_of_joints,
)
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Rows at rest: see resolve_for_loop.
Rest = Literal['keep', 'known', 'unknown']
# Rigid robot dynamics lie well below 10 Hz (section 2 of paper 000): motion is looked for up to
# 40 Hz, the rows of W and Y up to 8 Hz; a slow loop moves the robot up to its bandwidth only.
# A friction that turns smoothly is known in more detail than sign(dq), and so is the motion then.
LARGEST_HZ, LARGEST_SMOOTH_HZ, LARGEST_BAND_HZ = 40.0, 80.0, 8.0
CUTOFF_PER_BANDWIDTH, BAND_PER_BANDWIDTH = 5.0, 2.0
# The position filter passes twice what is worth keeping, so that it does not distort the rows,
# whose band ends at a fifth of its cut-off.
CUTOFF_MARGIN, BAND_PER_CUTOFF = 2.0, 0.2
# Rows for each parameter that acts on a joint.
ROWS_PER_PARAMETER = 3


@dataclass(frozen=True)
class ResolvedOptions:
    """
    A Processing with nothing left to resolve.

    :param processing: the options.
    :param reasons: by option, the reason for a value from the data.
    :param law_doubt: see `alignment.Alignment`.
    """

    processing: Processing
    reasons: Mapping[str, str] = field(default_factory=dict)
    law_doubt: Array | None = field(default=None, compare=False)

    def describe(self, rate: float) -> list[str]:
        """Return one line for each step, and one for each choice from the data."""
        lines = self.processing.describe(rate)
        return lines + [f'{key} from the data: {reason}' for key, reason in self.reasons.items()]


def resolve_options(
    processing: Processing,
    dataset: Dataset,
    robot: Robot,
    coulomb_slope: float | None = None,
    rest: Rest = 'keep',
) -> ResolvedOptions:
    """
    Resolve the options that are None.

    :param dataset: the measurements, columns in the order of the robot's joints.
    :param coulomb_slope: of the friction in W, None for sign(dq).
    :param rest: 'keep': no rest band; 'known': one for joints that dwell, where friction holds any
        torque however it turns; 'unknown': nor do the data say how it turns.
    """
    rate, reasons = dataset.rate, {}
    loops = robot.description.loops
    bandwidth = max(robot.loop().bandwidth) / (2 * pi) if 'default' in loops else float('inf')
    needed = rows_needed(robot)
    if processing.filter != 'none' and processing.cutoff_hz is None:
        highest = LARGEST_HZ if coulomb_slope is None else LARGEST_SMOOTH_HZ
        largest = min(highest, LARGEST_CUTOFF * rate, CUTOFF_PER_BANDWIDTH * bandwidth)
        cutoff, reason = resolve_cutoff(robot, dataset, processing, coulomb_slope, largest, needed)
        cutoff = min(CUTOFF_MARGIN * cutoff, LARGEST_CUTOFF * rate)
        processing, reasons['cutoff_hz'] = replace(processing, cutoff_hz=cutoff), reason
    if processing.decimation is None:
        passed = processing.cutoff_hz if processing.filter != 'none' else None
        band = min(LARGEST_BAND_HZ, BAND_PER_BANDWIDTH * bandwidth)
        band = band if passed is None else min(band, BAND_PER_CUTOFF * passed)
        processing, reasons['decimation'] = _decimate(processing, dataset, band, needed)
    return _without_rest(ResolvedOptions(fill_in(processing, rate), reasons), dataset, rest)


def rows_needed(robot: Robot) -> Array:
    """(n,) rows of each joint that its parameters need, 3 for each."""
    return np.array([ROWS_PER_PARAMETER * len(columns) for columns in acting_columns(robot)])


def resolve_for_loop(
    processing: Processing,
    dataset: Dataset,
    robot: Robot,
    coulomb_slope: float | None = None,
    motion: bool = False,
    rest: Rest = 'keep',
) -> ResolvedOptions:
    """
    Resolve the options that are None, for methods that simulate the loop or filter the data.

    Where the robot file has the loop, its bandwidth (at most 10 Hz) says what the rows hold.

    :param motion: the equations use measured motion: its cut-off comes from the data.
    :param rest: as in `resolve_options`.
    """
    derived = _for_loop(processing, dataset, robot, coulomb_slope, motion)
    return _without_rest(derived, dataset, rest)


def _for_loop(
    processing: Processing,
    dataset: Dataset,
    robot: Robot,
    coulomb_slope: float | None,
    motion: bool,
) -> ResolvedOptions:
    """Resolve all options but the rest band."""
    if 'default' not in robot.description.loops:
        return resolve_options(processing, dataset, robot, coulomb_slope)
    filled = fill_in(processing, dataset.rate, robot.loop().bandwidth)
    if not motion or processing.cutoff_hz is not None or processing.filter == 'none':
        return ResolvedOptions(filled)
    rows = replace(processing, decimation=filled.decimation)
    found = resolve_options(rows, dataset, robot, coulomb_slope)
    reasons = {'cutoff_hz': found.reasons['cutoff_hz']}
    cutoff, factor = found.processing.cutoff_hz, filled.decimation or 1
    if processing.decimation is None and cutoff is not None:
        # What the filter took from the motion must not stand in the rows of the torques.
        band = BAND_PER_CUTOFF * cutoff
        if even_factor(0.4 * dataset.rate / band) > factor:
            open_rows = replace(processing, cutoff_hz=cutoff)
            wider, reasons['decimation'] = _decimate(open_rows, dataset, band, rows_needed(robot))
            return ResolvedOptions(fill_in(wider, dataset.rate), reasons)
    return ResolvedOptions(found.processing, reasons)


def _without_rest(derived: ResolvedOptions, dataset: Dataset, rest: Rest) -> ResolvedOptions:
    """Return the same with a rest band from the data, unless one is given."""
    if derived.processing.rest_band is not None or rest == 'keep':
        return derived
    if rest == 'unknown':
        return _with_band(derived, *resolve_rest_band(dataset, derived.processing))
    band = dwell_band(dataset)
    if not band.any():
        return derived
    names = ', '.join(name for name, v in zip(dataset.joint_names, band) if v)
    reason = f'friction holds any torque at rest; {names} often at rest: 1 % of the top speed'
    return _with_band(derived, band, reason)


def _with_band(derived: ResolvedOptions, band: Array, reason: str) -> ResolvedOptions:
    processing = replace(derived.processing, rest_band=tuple(float(v) for v in band))
    return ResolvedOptions(processing, {**derived.reasons, 'rest_band': reason})


def _decimate(
    processing: Processing, dataset: Dataset, band_hz: float, needed: Array
) -> tuple[Processing, str]:
    """Choose a decimation that passes the band, or a weaker one that leaves enough rows."""
    factor = even_factor(0.4 * dataset.rate / band_hz)
    reason = f'rows hold what lies below {band_hz:.3g} Hz'
    while factor > 1:
        tried = fill_in(replace(processing, decimation=factor), dataset.rate)
        if enough(rows_of_joints(dataset, tried), needed):
            break
        factor = even_factor(factor - 1)
        reason = (
            'half of the joints need 3 rows for each parameter that acts on them, rest and '
            'borders left out'
        )
    return replace(processing, decimation=factor), reason
