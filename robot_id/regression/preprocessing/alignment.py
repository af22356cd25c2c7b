"""
Found before any filter is chosen: how friction changes sign, and the delay of the torque.

Both are found on rows of a fixed, modest bandwidth, so that they do not depend on the options that
are derived after them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import (
    LARGEST_CUTOFF,
    LONGEST_DELAY_S,
    Processing,
    even_factor,
)
from robot_id.data.signals.processing import resolve as fill_in
from robot_id.exceptions import DataError
from robot_id.regression.preprocessing.coarse import coarse
from robot_id.regression.preprocessing.friction_doubt import friction_doubt
from robot_id.regression.preprocessing.rest_band import resolve_rest_band
from robot_id.regression.preprocessing.torque_delay import (
    OffsetFit,
    TimeOffset,
    estimate_offset,
    fit_with_offset,
    with_joints,
)
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.least_squares import deficiency
from robot_id.regression.solvers.system import System
from robot_id.robot import Robot

Array = NDArray[np.float64]
_Fit = tuple[Observation, NDArray[np.bool_], Array]
# Positions up to 40 Hz, rows up to 8 Hz, from data of this rate at least.
CUTOFF_HZ, BAND_HZ, RATE_HZ = 40.0, 8.0, 400.0
# A smooth friction is known in more detail, and so is the motion when the offset is estimated.
SMOOTH_CUTOFF_HZ = 80.0
# Friction is smooth where that explains the torques decisively better than sign(dq), or better and
# so well (1.5 % of the torque) that the model can be trusted in this detail; real gears are not.
# There the likelier one is taken: to ask for more than that would take sign(dq) for every short
# recording, whose rows are too few to be certain, and its Coulomb friction comes out too small.
DECISIVE, TRUSTED = 0.7, 0.015
# Hard friction, sign(dq), as a smooth one that no filter tells from it: (rad/s)^-1 or (m/s)^-1.
# The tail 2 / (pi alpha |dq|) that it lacks is below 1e-3 of the friction from 0.06 rad/s on.
HARD_SLOPE = 1e4
# Rows that tell as much as an independent one: the noise of neighbours in the band of the rows is
# alike, and so is what the model leaves out.
ALIKE_ROWS = 2.0
# Odds from which the hard law is taken in place of the one that explains the reversals.
HARD_ODDS = 3.0


@dataclass(frozen=True)
class Alignment:
    """
    The slope of the friction and the time offset of the torque of a recording.

    :param slope: alpha of the friction 2/pi atan(alpha dq), None for sign(dq).
    :param slope_reason: why.
    :param offset: how late the torque is; None where it could not be estimated.
    :param misfit: share of the torques that is left with this slope; None where it was given.
    :param row_slope: alpha in rows of the measured motion; HARD_SLOPE where friction is known in
        detail and steps from one side to the other, else `slope`.
    :param law_doubt: (b, b) covariance of the parameters since the law of friction is not known
        for certain; None where it is.
    :param terms_doubt: (b, b) the part of it by other terms, for a fit with `slope` itself.
    """

    slope: float | None
    slope_reason: str
    offset: TimeOffset | None
    misfit: float | None = None
    row_slope: float | None = None
    law_doubt: Array | None = field(default=None, compare=False)
    terms_doubt: Array | None = field(default=None, compare=False)

    @property
    def fine(self) -> bool:
        """Whether friction is known in detail: smooth, or all of it explained."""
        return self.slope is not None or (self.misfit is not None and self.misfit <= TRUSTED)

    @property
    def filter_slope(self) -> float | None:
        """The slope in a filter that passes reversals step by step: None where they are hard."""
        return None if self.row_slope == HARD_SLOPE else self.row_slope

    def apply(self, processing: Processing) -> tuple[Processing, dict[str, str]]:
        """Return a processing that corrects the offset, and the reason."""
        if not processing.offset_open:
            return replace(processing, torque_delay_s=processing.torque_delay_s or 0.0), {}
        if self.offset is None:
            return replace(processing, torque_delay_s=0.0), {}
        reason = self.offset.describe()
        if self.offset.differ:
            own = replace(processing, torque_delay_s=self.offset.of_joints())
            return own, {'torque_delay_s': reason}
        if self.offset.held:
            held = replace(processing, held_torque=True, torque_delay_s=0.0)
            return held, {'held_torque': reason}
        seconds = self.offset.used[0]
        return replace(processing, torque_delay_s=seconds), {'torque_delay_s': reason}

    def offset_std(self, processing: Processing) -> float:
        """Return the deviation of the common offset that `apply` corrects, s; 0 if it is given."""
        if self.offset is None or not processing.offset_open:
            return 0.0
        return self.offset.used[1]


def align(robot: Robot, dataset: Dataset, slope: float | str | None) -> Alignment:
    """
    Find the slope of the friction (where it is 'auto') and the time offset of the torques.

    :param dataset: the measurements, columns in the order of the robot's joints.
    """
    key = ('alignment', robot, slope)
    return dataset.kept.get(key, lambda: _found(robot, dataset, slope))


def _found(robot: Robot, dataset: Dataset, slope: float | str | None) -> Alignment:
    sample = coarse(dataset, RATE_HZ)
    processing = _processing(sample, CUTOFF_HZ)
    try:
        return _align(robot, sample, processing, slope, 1.0 / dataset.rate)
    except DataError:
        # Too short for these filters: nothing is known beforehand.
        given = None if isinstance(slope, str) else slope
        return Alignment(given, 'short recording', None, row_slope=given)


def _processing(sample: Dataset, cutoff_hz: float) -> Processing:
    """Return rows up to 8 Hz of positions up to a cut-off, without what is slower than noise."""
    rate = sample.rate
    processing = fill_in(
        Processing(
            cutoff_hz=min(cutoff_hz, LARGEST_CUTOFF * rate),
            decimation=even_factor(0.4 * rate / BAND_HZ),
            torque_delay_s=0.0,
        ),
        rate,
    )
    band = resolve_rest_band(sample, processing)[0]
    return replace(processing, rest_band=tuple(float(v) for v in band))


def _align(
    robot: Robot, dataset: Dataset, processing: Processing, slope: float | str | None, step: float
) -> Alignment:
    if isinstance(slope, str):
        rows, shown, misfit = _turn(robot, dataset, processing)
    else:
        rows, shown, misfit = Observation(robot, dataset, processing, slope), 'given', None
    best = rows.wide.coulomb_slope
    # At low rates both cut-offs are the largest one, but for rounding.
    if best is not None and LARGEST_CUTOFF * dataset.rate > 1.01 * CUTOFF_HZ:
        processing = _processing(dataset, SMOOTH_CUTOFF_HZ)
        rows = Observation(robot, dataset, processing, best)
    own = _fit(rows.projected())
    offset = _offset(own, step)
    usual = offset is not None and (offset.held or offset.undecided)
    if offset is not None and not usual and offset.largest > step:
        # The estimate is of first order: what it leaves of a long delay is found once more.
        known = offset.of_joints() if offset.differ else offset.seconds
        shifted = replace(processing, torque_delay_s=known)
        rest = _offset(_fit(Observation(robot, dataset, shifted, best).projected()), step)
        offset = offset if rest is None else _credible(offset.plus(rest))
    law = _Law(best)
    if isinstance(slope, str):
        law = _law_of_motion(rows, best, own)
        shown = f'{shown}; in motion {law.shown}' if law.shown else shown
    reason = shown if offset is not None else 'too few data'
    return Alignment(best, reason, offset, misfit, law.slope, law.doubt, law.of_terms)


def _turn(
    robot: Robot, dataset: Dataset, processing: Processing
) -> tuple[Observation, str, float | None]:
    """Return rows with the slope of friction that explains the reversals, why, and the misfit."""
    found: dict[float | None, float] = {}
    rows: dict[float | None, Observation] = {}
    for candidate in [None, *_known_slopes(robot)]:
        rows[candidate] = Observation(robot, dataset, processing, candidate)
        fit = _fit(rows[candidate])
        solved = None if fit is None else fit_with_offset(*fit)
        if solved is None:
            return rows[None], 'too few data', None
        found[candidate] = solved.misfit
    least = best = min(found, key=lambda s: found[s])
    if best is not None:
        sign, smooth = found[None], found[best]
        best = best if smooth <= max(DECISIVE * sign, TRUSTED) else None
    shown = ', '.join(f'{_words(s)} {100 * misfit:.4g} %' for s, misfit in found.items())
    shown = f'{_words(best)}; left unexplained at reversals: {shown}'
    if least != best:
        shown += f', too little a gain to choose {_words(least)}'
    return rows[best], shown, found[best]


class _Law(NamedTuple):
    """The slope of friction between the reversals, the doubts left (b, b), and why."""

    slope: float | None
    doubt: Array | None = None
    of_terms: Array | None = None
    shown: str = ''


def _law_of_motion(rows: Observation, slope: float | None, own: _Fit | None) -> _Law:
    """
    Return the slope of friction between the reversals, the doubts left, and why.

    Around a reversal filters, noise and sticking hide how friction turns. Between reversals the
    laws differ in the tail 1 - 2/pi atan(alpha |dq|), which a fit of the wrong law puts into
    Coulomb and viscous friction: the one that explains these rows better is taken. All laws have
    the same rows taken out. The other law is true with the probability p that its likelihood
    says; then the parameters are off by D, what they are with it less what they are, so that
    p D D' belongs to their covariance, beside what other terms of friction would do.

    :param rows: with the law that is known, None for sign(dq).
    :param slope: of that law.
    :param own: the fit of the rows without their reversals.
    """
    if slope is None or slope >= HARD_SLOPE:
        made = _solved(own)
        terms = None if made is None else made.doubt()
        return _Law(slope, terms, terms)
    hard = Observation(rows.robot, rows.dataset, rows.processing, HARD_SLOPE, free=True)
    found: dict[float, _Solved] = {}
    for candidate, one in ((HARD_SLOPE, hard), (slope, rows.projected(hard.reversals))):
        solved = _solved(_fit(one))
        if solved is None:
            return _Law(slope)
        found[candidate] = solved
    misfits = {s: one.fit.misfit for s, one in found.items()}
    equations = sum(np.count_nonzero(rho) for rho in found[slope].fit.residual)
    apart = equations / ALIKE_ROWS * np.log(misfits[slope] / misfits[HARD_SLOPE])
    best, other = (HARD_SLOPE, slope) if apart > np.log(HARD_ODDS) else (slope, HARD_SLOPE)
    likely = 1.0 / (1.0 + np.exp(np.clip(apart if best == HARD_SLOPE else -apart, -700, 700)))
    D = found[other].fit.chi - found[best].fit.chi
    named = {s: _words(None if s == HARD_SLOPE else s) for s in found}
    shown = ', '.join(f'{named[s]}: {100 * misfit:.4g} %' for s, misfit in misfits.items())
    terms = found[best].doubt()
    of_slope = terms if best == slope else found[slope].doubt()
    return _Law(best, likely * np.outer(D, D) + terms, of_slope, shown)


@dataclass(frozen=True)
class _Solved:
    """Rows with the parameters they excite, the weights of the joints, and their fit."""

    rows: Observation
    kept: NDArray[np.bool_]
    weights: Array
    fit: OffsetFit

    def doubt(self) -> Array:
        """(b, b) covariance by what is not known of friction."""
        return friction_doubt(self.rows, self.kept, self.weights, self.fit, ALIKE_ROWS)


def _solved(fit: _Fit | None) -> _Solved | None:
    """Return the parameters of rows with their offset, None where they are too few."""
    solved = None if fit is None else fit_with_offset(*fit)
    return None if fit is None or solved is None else _Solved(*fit, solved)


def _offset(fit: _Fit | None, step: float) -> TimeOffset | None:
    """
    Return the offset of the torques, common and by joint, from rows without the reversals.

    Friction that does not turn as W says (before the velocity does, or smoothly) looks like a
    torque that is early or late, although gravity and inertia are not.
    """
    offset = None if fit is None else estimate_offset(*fit, step)
    return _credible(offset if fit is None or offset is None else with_joints(offset, *fit))


def _credible(offset: TimeOffset | None) -> TimeOffset | None:
    """Return an offset, None where it is no delay but another defect, as a wrong unit of time."""
    return offset if offset is None or offset.largest <= LONGEST_DELAY_S else None


def _fit(observation: Observation) -> _Fit | None:
    """Return an observation with the parameters it excites and the weights of the joints."""
    factors = observation.factors()
    lacking = deficiency(factors.stack(), factors.names)
    kept = np.array([name not in lacking.names for name in factors.names])
    if int(factors.rows.sum()) <= 2 * len(factors.names) or not kept.any():
        return None
    return observation, kept, System(factors).joint_weights()[0]


def _known_slopes(robot: Robot) -> list[float]:
    described = robot.description
    slopes = (described.coulomb_slope, described.identification_slope)
    return sorted({slope for slope in slopes if slope is not None})


def _words(slope: float | None) -> str:
    return 'sign(dq)' if slope is None else f'slope {slope:g}'
