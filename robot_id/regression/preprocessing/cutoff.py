"""
The cut-off of the position filter, from the data: noise of the derivatives against lost motion.

Differentiating twice multiplies the noise of a position by the square of its frequency: a filter
that passes much puts errors into W (errors in variables), one that passes little takes motion out
of W that the torques still hold. Both make the fit of the torques worse. So the same torques, in
the same rows, are explained with each of some cut-offs, and the largest one is found that explains
them nearly as well as the best: the weakest filter that does no harm.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing, even_factor
from robot_id.data.signals.processing import resolve as fill_in
from robot_id.exceptions import DataError
from robot_id.regression.preprocessing.coarse import coarse
from robot_id.regression.preprocessing.rest_band import (
    dwell_band,
    enough,
    held_joints,
    rows_of_joints,
    top_speeds,
)
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import smallest_solution
from robot_id.robot import Robot

Array = NDArray[np.float64]
CANDIDATES_HZ = (2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0, 80.0)
# A cut-off counts as good as the best one within this factor of its residual.
AS_GOOD = 1.1
# Above 20 Hz only friction gains, whose sign turns at once: there it must cost next to nothing.
RIGID_HZ, NEARLY_AS_GOOD = 20.0, 1.02
# The torques that all candidates explain lie below 0.4 of the largest cut-off, and below this.
TORQUE_SHARE, TORQUE_HZ = 0.4, 8.0
# The comparison uses data of this rate at most, relative to the largest cut-off.
RATE_PER_CUTOFF = 10.0


def resolve_cutoff(
    robot: Robot,
    dataset: Dataset,
    processing: Processing,
    coulomb_slope: float | None,
    largest_hz: float,
    rows_needed: Array,
) -> tuple[float, str]:
    """
    Return the cut-off in Hz, and the reason for it.

    :param processing: filter, order and torque convention; the rest of it does not matter here.
    :param coulomb_slope: of the friction in W, None for sign(dq).
    :param largest_hz: no candidate lies above it.
    :param rows_needed: (n,) rows of each joint that a comparison must leave (see `enough`);
        without them the largest is taken.
    """
    if processing.held_torque:
        # Half a sample of the recording, whatever the rate of the comparison.
        processing = replace(processing, held_torque=False, torque_delay_s=-0.5 / dataset.rate)
    dataset = coarse(dataset, RATE_PER_CUTOFF * largest_hz)
    candidates = [f for f in CANDIDATES_HZ if f < 0.99 * largest_hz] + [largest_hz]
    factor = even_factor(0.4 * dataset.rate / min(TORQUE_SHARE * largest_hz, TORQUE_HZ))
    common = replace(
        processing,
        decimation=factor,
        border=None,
        border_s=None,
        rest_band=tuple(_rest(dataset)),
        torque_delay_s=processing.torque_delay_s or 0.0,
    )
    while len(candidates) > 1:
        slowest = fill_in(replace(common, cutoff_hz=candidates[0]), dataset.rate)
        if enough(rows_of_joints(dataset, slowest), rows_needed):
            break
        candidates = candidates[1:]
    if len(candidates) == 1:
        return largest_hz, 'the recording is too short to compare cut-offs'
    common = replace(common, border=slowest.border)
    errors = _kept_errors(robot, dataset, common, candidates, coulomb_slope)
    best = int(np.argmin(errors))
    chosen = max(
        k
        for k, f in enumerate(candidates)
        if errors[k] <= (AS_GOOD if f <= RIGID_HZ else NEARLY_AS_GOOD) * errors[best]
    )
    shown = ', '.join(f'{f:.3g} Hz: {100 * e:.3g} %' for f, e in zip(candidates, errors))
    return candidates[chosen], (
        f'twice the largest that explains the torques within 10 % of the best, {shown}'
    )


def _rest(dataset: Dataset) -> list[float]:
    """(n,) rest band that leaves out the rows of joints that dwell or are held."""
    band = np.where(held_joints(dataset), 2.0 * top_speeds(dataset), dwell_band(dataset))
    return [float(v) for v in band]


def _kept_errors(
    robot: Robot,
    dataset: Dataset,
    common: Processing,
    candidates: list[float],
    coulomb_slope: float | None,
) -> Array:
    """
    Return the error of a fit with each cut-off, computed once for a robot and its data.

    Where a joint turns, every cut-off bends the friction in its own way, which would hide what the
    cut-offs do to the rest of the rows: the same reversals are projected out of all rows.
    """
    key = ('fit errors', robot, repr(common), tuple(candidates), coulomb_slope)

    def errors() -> Array:
        slowest = replace(common, cutoff_hz=candidates[0])
        first = Observation(robot, dataset, slowest, coulomb_slope, free=True)
        found = [fit_error(first)]
        for f in candidates[1:]:
            found.append(fit_error(first.of(dataset, replace(common, cutoff_hz=f))))
        return np.array(found)

    return dataset.kept.get(key, errors)


def fit_error(observation: Observation) -> float:
    """
    Return the geometric mean over the joints of ||Y_j - W_j chi|| / ||Y_j||.

    It is what the likelihood of joints with unknown noise depends on. Directions that the motion
    does not determine are left out, as they do not change the residual.
    """
    factors = observation.factors()
    R = factors.stack(System(factors).joint_weights()[0])
    torque = factors.torque_norms()
    live = torque > 0.0
    if not live.any():
        raise DataError(f'{observation.dataset.source or "data set"}: all torques are zero')
    shares = factors.residual_norms(smallest_solution(R))[live] / torque[live]
    return float(np.exp(np.mean(np.log(np.maximum(shares, 1e-12)))))
