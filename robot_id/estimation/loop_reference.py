"""What the controller followed, on the grid of the simulated loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.data.processing import Processing, differentiate
from robot_id.exceptions import DataError
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
