"""
The units of time, position and velocity: every combination that the numbers allow.

With the SI factors f_p, f_v and f_t of the units, and a recorded velocity v = k dq/dt in recorded
units, k = f_p / (f_t f_v). Names fix a unit; limits of the joints and usual rates bound the rest.
A unit is sure where all combinations that are left agree on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import inf, log10

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units

Array = NDArray[np.float64]
# Units that are tried where no name says one, the likeliest first.
TIMES = ('s', 'ms', 'us', 'ns')
ANGLES, LENGTHS = ('rad', 'deg', 'rev', 'mrad'), ('m', 'mm')
SPEEDS, LINEAR_SPEEDS = ('rad/s', 'deg/s', 'rpm', 'rev/s'), ('m/s', 'mm/s')
# Loggers of robots run at 4 Hz to 20 kHz, mostly at 40 Hz and more.
LOWEST_HZ, USUAL_HZ, HIGHEST_HZ = 4.0, 40.0, 2e4
# A motion to identify with covers this much in its largest joint, rad or m.
LEAST_ANGLE, LEAST_LENGTH = 0.15, 0.005
# Limits of a URDF may be exceeded a little; without limits two turns are possible.
OVER, UNLIMITED = 1.1, 4.0 * np.pi
LEAST_SPEED, OVER_SPEED = 0.02, 1.5
# Two slopes agree within this factor: no two units are so close (6 from rpm to deg/s).
AGREES = 1.25


@dataclass(frozen=True)
class Numbers:
    """
    What was recorded of the joints that turn, or of those that slide.

    :param lower: (m,) smallest positions; upper likewise.
    :param limits: (m, 2) of the robot, infinite where there are none.
    :param speed: largest velocity over that of the robot's limit, as recorded; NaN without.
    :param speed_limit: rad/s or m/s, infinite without.
    :param slope: k of v = k dq/dt in recorded units, NaN where no velocity was recorded.
    """

    lower: Array
    upper: Array
    limits: Array
    speed: float = np.nan
    speed_limit: float = inf
    slope: float = np.nan
    sliding: bool = False


@dataclass(frozen=True)
class Units:
    """
    Units that fit, and which of them are sure.

    :param sides: factor on positions (and velocities), 1 / gear where they are those of motors.
    """

    time: str = 's'
    position: str = 'rad'
    velocity: str = 'rad/s'
    unsure: dict[str, str] = field(default_factory=dict)
    explained: bool = True


def fitting_units(
    step: float, numbers: Numbers, named: dict[str, str], gear: Array | None = None
) -> Units:
    """
    Return the units of the best combination.

    :param step: of the clock as recorded; NaN without one: the rate is then not checked.
    :param named: units by names: 'time', 'position', 'velocity'.
    :param gear: (m,) motor over joint, where the names say that motors were measured.
    """
    sliding = numbers.sliding
    times = _given(named, 'time', TIMES)
    places = _given(named, 'position', LENGTHS if sliding else ANGLES)
    speeds = _given(named, 'velocity', LINEAR_SPEEDS if sliding else SPEEDS)
    has_speed = np.isfinite(numbers.slope)
    found: list[tuple[float, tuple[str, str, str]]] = []
    small: list[tuple[float, tuple[str, str, str]]] = []
    for t, p, v in product(times, places, speeds):
        if not has_speed and len(speeds) > 1 and v != f'{p}/s':
            continue  # nothing tells it: that of the position
        moves = 'position' in named or _moves(p, numbers, gear)
        cost = _cost(t, p, v, step, numbers, gear, named)
        if cost < inf:
            usual = times.index(t) + 2 * places.index(p) + (v != f'{p}/s') * (v != 'rpm')
            (found if moves else small).append((cost + usual, (t, p, v)))
    if not found:
        first = (times[0], places[0], speeds[0])
        doubts = dict.fromkeys(('time', 'position', 'velocity'), 'no unit fits the numbers')
        return Units(*first, {k: d for k, d in doubts.items() if k not in named}, False)
    found.sort(key=lambda each: each[0])
    # That a motion is small rules out a rarer unit, not a more usual one.
    rank = places.index(found[0][1][1])
    found += [each for each in small if places.index(each[1][1]) < rank]
    unsure = {}
    for place, key in enumerate(('time', 'position', 'velocity')):
        others = {units_[place] for _, units_ in found} - {found[0][1][place]}
        if others and (key != 'velocity' or has_speed):
            unsure[key] = f'{" or ".join(sorted(others))} would fit too'
    return Units(*found[0][1], unsure)


def _given(named: dict[str, str], key: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    unit = named.get(key, '')
    return (unit,) if unit in {**units.TIME, **units.POSITION, **units.VELOCITY} else otherwise


def _side(numbers: Numbers, gear: Array | None) -> Array:
    return np.ones(len(numbers.lower)) if gear is None else 1.0 / np.abs(gear)


def _moves(p: str, numbers: Numbers, gear: Array | None) -> bool:
    """Whether the motion is one to identify with, in a unit of the position."""
    spans = units.POSITION[p] * _side(numbers, gear) * (numbers.upper - numbers.lower)
    return float(np.max(spans)) >= (LEAST_LENGTH if numbers.sliding else LEAST_ANGLE)


def _cost(
    t: str, p: str, v: str, step: float, numbers: Numbers, gear: Array | None,
    named: dict[str, str],
) -> float:  # fmt: skip
    """Return how far a combination is from what is usual, infinite where it cannot be."""
    ft, fp, fv = units.TIME[t], units.POSITION[p], units.VELOCITY[v]
    cost = 0.0
    if np.isfinite(step) and step > 0.0:
        rate = 1.0 / (ft * step)
        if not LOWEST_HZ <= rate <= HIGHEST_HZ and 'time' not in named:
            return inf
        cost += 3.0 * max(log10(USUAL_HZ / rate), 0.0)
    side = _side(numbers, gear)
    lower, upper = fp * side * numbers.lower, fp * side * numbers.upper
    if 'position' not in named:
        low, high = numbers.limits.T
        width = np.where(np.isfinite(high - low), high - low, 2.0 * UNLIMITED)
        slack = (OVER - 1.0) * width
        low = np.where(np.isfinite(low), low, -UNLIMITED)
        high = np.where(np.isfinite(high), high, UNLIMITED)
        if np.any(lower < low - slack) or np.any(upper > high + slack):
            return inf
    if np.isfinite(numbers.slope):
        expected = fp / (ft * fv)
        if not 1.0 / AGREES < numbers.slope / expected < AGREES:
            return inf
        fastest = fv * numbers.speed * float(np.min(side))
        possible = LEAST_SPEED <= fastest <= OVER_SPEED * numbers.speed_limit
        if 'velocity' not in named and np.isfinite(fastest) and not possible:
            return inf
    return cost
