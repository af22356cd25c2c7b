"""
The robot's own clock, rebuilt from its motion where the stamps are those of a logger.

A robot samples on whole ticks of its period T. Where a velocity was recorded, the step of the
position over the mean velocity is the time that passed, sum(dq v) / sum(v^2), and it falls on
whole ticks however late the logger stamped the sample. A logger that reads faster than the robot
answers holds a state twice: no tick passed, though the robot moved. Without a velocity a late
stamp cannot be distinguished from a lost sample, and the stamps are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Stamps that jitter by less than this (of a step) are believed.
JITTER = 0.1
# A passed time this near to whole ticks, for this share of the steps, is a clock.
NEAR, SHARE = 0.25, 0.95
# Factor by which ticks must fit better than stamps.
BETTER = 2.5
# Steps with less motion than this share of the strongest are not used.
QUIET = 0.1
# At least this many steps are needed.
FEWEST = 100
# A rate this close to a whole number of Hz is that number.
NOMINAL = 0.005
# The mean of all steps is known better than that.
SURE = 0.0005
# Over the whole recording both clocks agree within this.
DRIFT = 0.02
# Longer holes are gaps of the recording: they keep their stamps.
LONGEST = 5.5
# No robot is sampled at 1 GHz: such a step is damage.
SHORTEST_S = 1e-9


@dataclass(frozen=True)
class Clock:
    """
    A rebuilt clock.

    :param time: (M,) seconds of the samples that are kept.
    :param rate: ticks per second.
    :param jitter: rms by which the stamps were off, in ticks.
    :param fresh: (N,) samples that are kept, M of them: the others repeat the one before.
    """

    time: Array
    rate: float
    jitter: float
    fresh: NDArray[np.bool_]


def rebuild(time: Array, position: Array, velocity: Array | None) -> Clock | None:
    """
    Return the robot's clock when the motion shows that the stamps are not it, else None.

    :param time: (N,) stamps, increasing.
    :param position: (N, n).
    :param velocity: (N, n) as recorded, or None.
    """
    if velocity is None:
        return None
    fresh = _fresh(position, velocity)
    time, position, velocity = time[fresh], position[fresh], velocity[fresh]
    steps = np.diff(time)
    if len(steps) < FEWEST or steps.min() < 0:
        return None
    passed, strong = _passed(position, velocity)
    if strong.sum() < FEWEST:
        return None
    period = _nominal(float(np.median(passed[strong])))
    # Lost samples make whole steps: only what is off them is jitter.
    inner = steps < LONGEST * period
    off = np.abs(steps / period - np.maximum(np.round(steps / period), 1.0))[inner]
    if not off.size or np.sqrt((off**2).mean()) < JITTER:
        return None
    whole = np.where(steps < 1.6 * period, 1.0, np.round(steps / period))
    reliable = strong & (passed < LONGEST * period)
    ticks = _ticks(steps / period, passed / period, reliable, whole)
    if ticks is None:
        return None
    count = np.concatenate([[0.0], np.cumsum(ticks)])
    # The mean rate of the stamps is right even where each of them is not.
    mean = float(np.polyfit(count, time - time[0], 1)[0])
    if abs(mean / period - 1.0) > DRIFT:
        return None
    period = _nominal(mean, SURE)
    jitter = float(np.sqrt((off**2).mean()))
    return Clock(time[0] + period * count, 1.0 / period, jitter, fresh)


def _fresh(position: Array, velocity: Array) -> NDArray[np.bool_]:
    """(N,) samples that do not repeat the previous state, as a moving robot never does."""
    same = (np.diff(position, axis=0) == 0.0).all(axis=1)
    strength = ((velocity / np.maximum(np.std(velocity, axis=0), 1e-12)) ** 2).sum(axis=1)
    return np.concatenate([[True], ~(same & (strength[1:] > QUIET * np.median(strength)))])


def _passed(position: Array, velocity: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return the time that passed in each step by the velocity, and where that is reliable."""
    dq, v = np.diff(position, axis=0), 0.5 * (velocity[1:] + velocity[:-1])
    size = np.maximum(np.std(velocity, axis=0), 1e-12)
    strength = ((v / size) ** 2).sum(axis=1)
    passed = (dq * v / size**2).sum(axis=1) / np.maximum(strength, 1e-12)
    strong = (strength > QUIET * np.median(strength)) & (passed > 0)
    return passed, strong


def _ticks(stamped: Array, passed: Array, strong: NDArray[np.bool_], whole: Array) -> Array | None:
    """
    Return the ticks of each step, None where the motion does not fall on them.

    :param stamped: (N - 1,) steps of the stamps, in periods.
    :param passed: (N - 1,) steps by the velocity, in periods.
    :param strong: where they are reliable.
    :param whole: (N - 1,) ticks of the other steps.
    """
    if strong.sum() < FEWEST:
        return None
    ratio = passed[strong]
    nearest = np.maximum(np.round(ratio), 1.0)
    left = np.sqrt(np.median((ratio - nearest) ** 2))
    missed = np.sqrt(np.median((ratio - stamped[strong]) ** 2))
    if np.mean(np.abs(ratio - nearest) < NEAR) < SHARE or missed < BETTER * left:
        return None
    ticks = whole.copy()
    ticks[strong] = nearest
    return ticks


def _nominal(step: float, near: float = NOMINAL) -> float:
    """Return the tick, or that of a whole rate near it."""
    nominal = round(1.0 / step) if step > SHORTEST_S else 0
    return 1.0 / nominal if nominal and abs(nominal * step - 1.0) < near else step
