"""The unit of time: a clock that runs a thousand, a million or 10^9 times too slow or too fast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Remedy

# Usual sampling rates of recordings, Hz.
USUAL_RATE = (15.0, 30000.0)
# Peak speeds of joints that move on purpose, rad/s or m/s.
USUAL_SPEED = (0.01, 60.0)
UNITS = {'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
# Rate in Hz and peak speed in rad/s of most recordings, and their spread in decades.
TYPICAL_RATE, RATE_DECADES = 400.0, 1.0
TYPICAL_SPEED, SPEED_DECADES = 1.5, 0.6
# The other unit must be closer to that by this much, in squared spreads.
NEARER = 6.0


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Compare the sampling rate, the speeds and a velocity channel with what robots do."""
    rate, speed = case.dataset.rate, float(np.abs(case.signals.dq).max())
    if USUAL_RATE[0] <= rate <= USUAL_RATE[1] or speed == 0.0:
        return [], case
    for unit, factor in UNITS.items():
        for scale, key in ((factor, unit), (1.0 / factor, 's')):
            if not USUAL_RATE[0] <= rate / scale <= USUAL_RATE[1]:
                continue
            if not USUAL_SPEED[0] <= speed / scale <= USUAL_SPEED[1]:
                continue
            if _strange(rate, speed) < _strange(rate / scale, speed / scale) + NEARER:
                continue
            return _found(case, scale, key, rate, speed)
    return [], case


def _strange(rate: float, speed: float) -> float:
    """Return how far a recording is from most others, in squared spreads."""
    rates = np.log10(rate / TYPICAL_RATE) / RATE_DECADES
    speeds = np.log10(speed / TYPICAL_SPEED) / SPEED_DECADES
    return float(rates**2 + speeds**2)


def _found(
    case: Case, scale: float, unit: str, rate: float, speed: float
) -> tuple[list[Finding], Case]:
    repaired = f'time.unit: {unit} in the mapping'
    message = (
        f'{rate:.3g} samples a second and a top speed of {speed:.3g} rad/s or m/s: no robot is '
        f'recorded like this; with time in {unit} it is {rate / scale:.4g} Hz and '
        f'{speed / scale:.3g}'
    )
    ratio = _velocity_ratio(case)
    certainty = 0.97
    if ratio is not None and abs(np.log10(ratio * scale)) < 0.1:
        message += f'; the recorded velocity is {ratio:.4g} times the derivative of the position'
        certainty = 0.995
    finding = Finding('time_unit', None, certainty, message, repaired, Remedy(time_scale=scale))
    runs = tuple(replace(run, time=run.time * scale) for run in case.dataset.runs)
    return [finding], Case(case.robot, replace(case.dataset, runs=runs))


def _velocity_ratio(case: Case) -> float | None:
    """Return the recorded velocity over the derivative of the position, None without it."""
    velocities = [run.velocity for run in case.dataset.runs if run.velocity is not None]
    if not velocities:
        return None
    recorded, own = float(np.std(np.concatenate(velocities))), float(np.std(case.signals.dq))
    return recorded / own if own > 0 and recorded > 0 else None
