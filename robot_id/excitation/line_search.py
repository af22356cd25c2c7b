"""
A step along a line that makes a function small enough: the search of Moré and Thuente.

J. J. Moré, D. J. Thuente, Line search algorithms with guaranteed sufficient decrease, ACM TOMS 20,
1994. A step s is accepted where f(s) <= f(0) + ftol s f'(0) and |f'(s)| <= gtol |f'(0)|. An
interval that holds such steps is kept, and each trial is the minimum of a polynomial through the
values and slopes at its ends. The constants are those of L-BFGS-B.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

DECREASE = 1e-3  # ftol
CURVATURE = 0.9  # gtol
_NARROW = 0.1  # relative width of an interval that is not searched any further
_LONGEST = 1e10
_TRIALS = 20


class Point(NamedTuple):
    """A step with the value and the slope of the function there."""

    step: float
    f: float
    slope: float

    def less_line(self, slope: float) -> Point:
        """Return the same of f(s) - slope s."""
        return Point(self.step, self.f - slope * self.step, self.slope - slope)


@dataclass
class _Bracket:
    """
    The best step so far, the other end, and whether a minimum lies between them.

    :param low, high: trial steps may lie there.
    """

    best: Point
    other: Point
    closed: bool
    low: float
    high: float

    def narrow(self, trial: Point, line: float) -> float:
        """Take in a trial, with the slope `line` taken off all functions; return the next step."""
        best, other, new = (p.less_line(line) for p in (self.best, self.other, trial))
        step, closes = _next_step(best, other, new, self.closed, self.low, self.high)
        if new.f > best.f:
            self.other = trial
        else:
            if new.slope * best.slope < 0.0:
                self.other = self.best
            self.best = trial
        self.closed = self.closed or closes
        return step


def line_search(
    evaluate: Callable[[float], tuple[float, float]], f: float, slope: float, step: float
) -> bool:
    """
    Call `evaluate` until a step is good enough, the last one called; return whether there is one.

    :param evaluate: step -> value and slope there.
    :param f, slope: at step 0; the slope is negative.
    :param step: the first to try.
    """
    start = Point(0.0, f, slope)
    line, widths = DECREASE * slope, (_LONGEST, 2.0 * _LONGEST)
    bracket, first = _Bracket(start, start, False, 0.0, 5.0 * step), True
    for _ in range(_TRIALS):
        trial = Point(step, *evaluate(step))
        enough = trial.f <= f + step * line
        first = first and not (enough and trial.slope >= 0.0)
        if _finished(bracket, trial, enough, slope):
            return True
        # At first f less a line is made smaller, until a step is known that is good for f.
        modified = first and trial.f <= bracket.best.f and not enough
        step = bracket.narrow(trial, line if modified else 0.0)
        best, other = bracket.best.step, bracket.other.step
        if bracket.closed:
            if abs(other - best) >= 0.66 * widths[1]:
                step = best + 0.5 * (other - best)
            widths = abs(other - best), widths[0]
            bracket.low, bracket.high = min(best, other), max(best, other)
        else:
            bracket.low = step + 1.1 * (step - best)
            bracket.high = step + 4.0 * (step - best)
        step = min(max(step, 0.0), _LONGEST)
        if bracket.closed and _exhausted(bracket, step):
            step = best
    return False


def _exhausted(bracket: _Bracket, step: float) -> bool:
    inside = bracket.low < step < bracket.high
    return not inside or bracket.high - bracket.low <= _NARROW * bracket.high


def _finished(bracket: _Bracket, trial: Point, enough: bool, slope: float) -> bool:
    """Return whether the trial is good enough, or no other can be told from it."""
    if bracket.closed and _exhausted(bracket, trial.step):
        return True
    if trial.step == _LONGEST and enough and trial.slope <= DECREASE * slope:
        return True
    return enough and abs(trial.slope) <= -CURVATURE * slope


def _next_step(
    best: Point, other: Point, new: Point, closed: bool, low: float, high: float
) -> tuple[float, bool]:
    """Return the next trial step, and whether a minimum is now known to be enclosed."""
    turned = new.slope * math.copysign(1.0, best.slope) < 0.0
    if new.f > best.f:
        cubic = _cubic(best, new)
        falling = (best.f - new.f) / (new.step - best.step) + best.slope
        quadratic = best.step + best.slope / falling / 2.0 * (new.step - best.step)
        nearer = abs(cubic - best.step) < abs(quadratic - best.step)
        return (cubic if nearer else cubic + 0.5 * (quadratic - cubic)), True
    if turned:
        cubic, secant = _cubic(new, best), _secant(new, best)
        farther = abs(cubic - new.step) > abs(secant - new.step)
        return (cubic if farther else secant), True
    if abs(new.slope) < abs(best.slope):
        end = high if new.step > best.step else low
        cubic, secant = _cubic(new, best, beyond=end), _secant(new, best)
        nearer = abs(cubic - new.step) < abs(secant - new.step)
        if closed:
            step = cubic if nearer else secant
            most = new.step + 0.66 * (other.step - new.step)
            return (min(most, step) if new.step > best.step else max(most, step)), False
        return min(max(secant if nearer else cubic, low), high), False
    if closed:
        return _cubic(new, other), False
    return (high if new.step > best.step else low), False


def _secant(a: Point, b: Point) -> float:
    """Return where the slope vanishes if it changes linearly."""
    return a.step + a.slope / (a.slope - b.slope) * (b.step - a.step)


def _cubic(a: Point, b: Point, beyond: float | None = None) -> float:
    """
    Return the minimum of the cubic through values and slopes at both points.

    :param beyond: returned where the cubic has none in the direction from b to a.
    """
    theta = 3.0 * (a.f - b.f) / (b.step - a.step) + a.slope + b.slope
    size = max(abs(theta), abs(a.slope), abs(b.slope))
    square = (theta / size) ** 2 - (a.slope / size) * (b.slope / size)
    gamma = math.copysign(size * math.sqrt(max(square, 0.0)), b.step - a.step)
    p, q = gamma - a.slope + theta, 2.0 * gamma - a.slope + b.slope
    r = p / q
    if beyond is not None and not (r < 0.0 and gamma != 0.0):
        return beyond
    return a.step + r * (b.step - a.step)
