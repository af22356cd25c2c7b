"""What the controller followed, on the grid of the simulated loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing, end_rows, usable
from robot_id.exceptions import DataError
from robot_id.regression.rows.sampling import States
from robot_id.robot import Loop
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LoopRun:
    """
    One run with the reference its controller followed.

    :param run: the measurements.
    :param reference: at the rate of the controller, `every` samples per measurement.
    :param first: first sample that is used, last: one past the last one.
    """

    run: Run
    reference: Reference
    every: int
    first: int
    last: int


def loop_run(
    run: Run, processing: Processing, loop: Loop, settled_s: float, delay_s: float
) -> LoopRun:
    """
    Return a run with its reference.

    :param settled_s: seconds at the start until the simulated loop has forgotten it.
    """
    factor = processing.decimation or 1
    first, last = usable(run, processing)
    settled = int(np.ceil(settled_s * run.rate))
    first = -(-max(first, settled) // factor) * factor
    if last - first < (4 + 2 * end_rows(processing)) * factor:
        raise DataError(
            f'a run of {run.duration:.3g} s is too short: the first {first / run.rate:.3g} s '
            'are dropped until the simulated loop has settled (5 / bandwidth)'
        )
    every = max(1, round(loop.rate_hz / run.rate))
    return LoopRun(run, reference_of(run, processing, every, delay_s), every, first, last)


def reference_of(run: Run, processing: Processing, every: int, delay_s: float = 0.0) -> Reference:
    """
    Return what the controller followed, `every` samples per measurement.

    Without a recorded reference the filtered position stands in; missing derivatives come from a
    quintic spline through the positions.

    :param delay_s: by which a recorded reference acts late, early where negative.
    """
    velocity, acceleration = run.reference_velocity, run.reference_acceleration
    if run.reference_position is None:
        delay_s = 0.0
        position, velocity, acceleration = differentiate(run, processing, (0, len(run)))
    else:
        position = run.reference_position
    if not np.all(np.isfinite(position)):
        raise DataError('the reference position has values that are not finite')
    time: Array = np.arange(len(run), dtype=float) * run.step
    if every == 1 and delay_s == 0.0 and velocity is not None and acceleration is not None:
        return Reference(time, position, velocity, acceleration)
    spline = scipy.interpolate.make_interp_spline(time, position, k=min(5, len(run) - 1), axis=0)
    fine: Array = np.arange((len(run) - 1) * every + 1, dtype=float) * (run.step / every)
    at = np.clip(fine - delay_s, 0.0, time[-1])
    return Reference(fine, spline(at), spline(at, 1), spline(at, 2))


def reference_states(runs: Sequence[LoopRun]) -> list[States]:
    """Return the reference motion at the rate of the measurements, with no torque."""
    parts = []
    for r in runs:
        q, dq, ddq = (
            x[:: r.every]
            for x in (r.reference.position, r.reference.velocity, r.reference.acceleration)
        )
        parts.append(States(q, dq, ddq, np.zeros_like(q)))
    return parts
