"""How many operations a function costs: generated for one robot, and by the generic kernels."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from robot_id.dynamics.generated.evaluate import count
from robot_id.dynamics.generated.functions import FUNCTIONS, Numbers, numbers_of, trace
from robot_id.robot import Robot

_done: Counter[str] = Counter()


class CountingFloat(float):
    """A number whose additions and multiplications are counted."""

    def __add__(self, other: float) -> CountingFloat:
        return _counted('additions', float.__add__(self, other))

    def __sub__(self, other: float) -> CountingFloat:
        return _counted('additions', float.__sub__(self, other))

    def __rsub__(self, other: float) -> CountingFloat:
        return _counted('additions', float.__rsub__(self, other))

    def __mul__(self, other: float) -> CountingFloat:
        return _counted('multiplications', float.__mul__(self, other))

    def __truediv__(self, other: float) -> CountingFloat:
        return _counted('multiplications', float.__truediv__(self, other))

    def __rtruediv__(self, other: float) -> CountingFloat:
        return _counted('multiplications', float.__rtruediv__(self, other))

    def __neg__(self) -> CountingFloat:
        return CountingFloat(float.__neg__(self))

    def __abs__(self) -> CountingFloat:
        return CountingFloat(float.__abs__(self))

    __radd__ = __add__
    __rmul__ = __mul__


def _counted(what: str, value: float) -> CountingFloat:
    _done[what] += 1
    return CountingFloat(value)


def operation_counts(robot: Robot) -> dict[str, dict[str, dict[str, int]]]:
    """
    Return function -> 'generated' and 'generic' -> additions and multiplications.

    Coulomb friction is its sign; a division counts as a multiplication.
    """
    out = {}
    for name in FUNCTIONS:
        made = count(trace(robot, name, smooth=False))
        made.pop('functions')
        out[name] = {'generated': made, 'generic': _generic(robot, name)}
    return out


def _generic(robot: Robot, name: str) -> dict[str, int]:
    """Run the kernel once on counting numbers; unit rotors, so that M(q) is regular."""
    n, b = robot.n, len(robot.base)
    rng = np.random.default_rng(0)
    numbers: Numbers = numbers_of(robot, _counting(robot.regular_start()), CountingFloat)
    q, dq, x = (_counting(rng.normal(size=(1, n))) for _ in range(3))
    G = _counting(rng.normal(size=(1, n, b)))
    _done.clear()
    FUNCTIONS[name].run(numbers, q, dq, x, 0.0, G)
    return {key: _done[key] for key in ('additions', 'multiplications')}


def _counting(values: Any) -> Any:
    out = np.empty(values.shape, object)
    for place in np.ndindex(values.shape):
        out[place] = CountingFloat(values[place])
    return out
