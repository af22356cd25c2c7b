"""
Minimisation without bounds by L-BFGS with a long memory, for functions that cost microseconds.

The iterates are those of L-BFGS-B without bounds (C. Zhu et al., ACM TOMS 23, 1997) but for
rounding. That code factors a matrix of twice the memory at every iteration, for bounds that are
not there: with 60 steps in memory it takes a fifth of the time of a search for motions. The two
loops of J. Nocedal (Math. of Computation 35, 1980) need no such matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_id.dynamics.warm_up import KERNELS, Kernel
from robot_id.excitation.line_search import line_search
from robot_id.excitation.weighted_rows import ANY_ORDER
from robot_id.kernel_cache import njit
from robot_id.trajectory.trajectory import Array

Function = Callable[[Array], tuple[float, Array]]

_EPS = float(np.finfo(float).eps)
# An iteration that gains less (relative), or a largest slope below: that is the minimum.
SMALLEST_GAIN = 1e7 * _EPS
SMALLEST_SLOPE = 1e-5


@njit(**ANY_ORDER)
def newton_direction(S, Y, rho, newest, count, g, d):
    """
    Fill d = -H g, with H the inverse Hessian that the last `count` steps tell of.

    :param S: (m, n) steps, a ring; Y (m, n) how the gradient changed; rho (m,) 1 / (s . y).
    :param newest: row of the last one.
    """
    m, n = S.shape
    alpha = np.empty(m)
    for i in range(n):
        d[i] = -g[i]
    for k in range(count):
        row = (newest - k) % m
        s, y = S[row], Y[row]
        along = 0.0
        for i in range(n):
            along += s[i] * d[i]
        alpha[row] = along * rho[row]
        for i in range(n):
            d[i] -= alpha[row] * y[i]
    if count:
        y = Y[newest]
        square = 0.0
        for i in range(n):
            square += y[i] * y[i]
        for i in range(n):
            d[i] /= rho[newest] * square
    for k in range(count - 1, -1, -1):
        row = (newest - k) % m
        s, y = S[row], Y[row]
        along = 0.0
        for i in range(n):
            along += y[i] * d[i]
        along = alpha[row] - along * rho[row]
        for i in range(n):
            d[i] += along * s[i]


class _Memory:
    """
    The last steps, and how the gradient changed along them.

    :param size: how many.
    :param n: length of each.
    """

    def __init__(self, size: int, n: int) -> None:
        self.S, self.Y = np.empty((2, size, n))
        self.rho = np.empty(size)
        self.newest, self.count = 0, 0

    def direction(self, g: Array) -> Array:
        """Return -H g."""
        d = np.empty_like(g)
        newton_direction(self.S, self.Y, self.rho, self.newest, self.count, g, d)
        return d

    def add(self, s: Array, y: Array, fall: float) -> None:
        """Keep a step, unless the function is not convex along it; fall is -s . g before it."""
        curvature = float(s @ y)
        if curvature <= _EPS * fall:
            return
        size = len(self.rho)
        self.newest, self.count = (self.newest + 1) % size, min(self.count + 1, size)
        self.S[self.newest], self.Y[self.newest] = s, y
        self.rho[self.newest] = 1.0 / curvature


def minimize(
    function: Function, x: Array, iterations: int, memory: int, keep: Callable[[Array], None]
) -> None:
    """
    Go down from x (n,) until the function hardly falls any more.

    :param function: x -> value and gradient (n,), a new array.
    :param iterations: at most.
    :param memory: how many steps the Hessian is made of.
    :param keep: gets x after every iteration, a new array.
    """
    known = _Memory(memory, len(x))
    f, g = function(x)
    done = 0
    while done < iterations and np.max(np.abs(g)) > SMALLEST_SLOPE:
        d = known.direction(g)
        slope = float(g @ d)
        reached = x, f, g

        def evaluate(step: float, x: Array = x, d: Array = d) -> tuple[float, float]:
            nonlocal reached
            there = x + step * d
            reached = there, *function(there)
            return reached[1], float(reached[2] @ d)

        first = 1.0 if known.count else 1.0 / np.sqrt(float(d @ d))
        if not slope < 0.0 or not line_search(evaluate, f, slope, first):
            if not known.count:  # not even straight down
                return
            known.count = 0
            continue
        there, value, gradient = reached
        known.add(there - x, gradient - g, -float(g @ (there - x)))
        gain, size = f - value, max(abs(f), abs(value), 1.0)
        x, f, g = reached
        keep(x)
        done += 1
        if gain <= SMALLEST_GAIN * size:
            return


def _direction(robot, chi, x):
    newton_direction(x, x, x[0], 0, 1, x[0], x[0].copy())


KERNELS['newton_direction'] = Kernel(newton_direction, _direction)
