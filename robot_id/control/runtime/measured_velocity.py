"""
The velocity that a driver measures, where it agrees with the positions, and the time of samples.

Time is counted in samples: a jitter of the stamps must not become torque.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.kernel_cache import njit
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Both velocities pass a low-pass filter; their difference is judged over a window.
FILTER_S, WINDOW_S = 0.01, 0.1
# Root mean square of the difference over that of the velocity: believed below the first, no more
# above the second.
AGREES, DISAGREES = 0.2, 0.4
# Share of the velocity limit, or rad/s (m/s) without one, from which a motion tells.
SMALLEST_SHARE, SMALLEST = 0.01, 0.01
POSITION, BY_POSITION, MEASURED, DIFFERENCE, SQUARE, USED, SINCE = range(7)
# Share of a stamp's deviation by which the grid of the samples moves: it follows a drift of the
# clocks within some fifty samples, and a jitter hardly.
FOLLOWED = 0.02
# Nearer to the nominal period than this, a step is the period.
EXACT = 1e-3


class SampleClock:
    """
    How many periods a sample comes after the last one.

    The robot samples by its own clock; stamps are made later and jitter. So a step is a whole
    number of nominal periods, one unless samples were lost, and the stamps only count the lost.

    :param period_ns: nominal.
    """

    def __init__(self, period_ns: float) -> None:
        self.period_ns = period_ns
        self._grid: float | None = None

    def restart(self) -> None:
        """Forget the last sample."""
        self._grid = None

    def periods(self, stamp: int) -> int:
        """Return the number of periods since the last sample, 1 for the first one."""
        if self._grid is None:
            self._grid = float(stamp)
            return 1
        since = (stamp - self._grid) / self.period_ns
        count = max(round(since), 1)
        self._grid += count * self.period_ns
        late = stamp - self._grid
        if abs(late) <= EXACT * self.period_ns:
            self._grid = float(stamp)
        else:
            self._grid += FOLLOWED * late
        return count


class MeasuredVelocity:
    """
    Passes a measured velocity on, joint by joint, once it has been seen to agree.

    :param robot: the Robot.
    """

    def __init__(self, robot: Robot) -> None:
        limit = robot.limits.velocity
        self._least = np.where(np.isfinite(limit), SMALLEST_SHARE * limit, SMALLEST)
        self._state = np.zeros((7, robot.n))
        self._out = np.full(robot.n, np.nan)
        self.restart()

    def restart(self) -> None:
        """Believe nothing."""
        self._state[:] = 0.0
        self.pause()

    def pause(self) -> None:
        """Forget the last position; what was believed stays."""
        self._state[POSITION] = np.nan

    def choose(self, position: Array, velocity: Array | None, elapsed: float) -> Array | None:
        """
        Return (n,) the velocity of the joints where it is believed, NaN elsewhere.

        :param velocity: (n,) as measured, None where there is none.
        :param elapsed: seconds since the last sample.
        """
        if velocity is None:
            return None
        _choose(self._state, self._least, position, velocity, elapsed, self._out)
        return self._out

    @property
    def used(self) -> NDArray[np.bool_]:
        """(n,) whether the measured velocity of a joint is used."""
        return self._state[USED] != 0.0


@njit(**FAST)
def _choose(state, least, position, velocity, h, out):
    a, b = 1.0 - math.exp(-h / FILTER_S), 1.0 - math.exp(-h / WINDOW_S)
    for j in range(position.shape[0]):
        before, state[POSITION, j] = state[POSITION, j], position[j]
        out[j] = np.nan
        if math.isnan(before) or not math.isfinite(velocity[j]):
            continue
        state[BY_POSITION, j] += a * ((position[j] - before) / h - state[BY_POSITION, j])
        state[MEASURED, j] += a * (velocity[j] - state[MEASURED, j])
        apart = state[MEASURED, j] - state[BY_POSITION, j]
        state[DIFFERENCE, j] += b * (apart * apart - state[DIFFERENCE, j])
        fast = state[BY_POSITION, j]
        state[SQUARE, j] += b * (fast * fast - state[SQUARE, j])
        larger = max(state[SQUARE, j], state[DIFFERENCE, j])
        if larger > least[j] ** 2:
            if state[DIFFERENCE, j] > DISAGREES**2 * state[SQUARE, j]:
                state[USED, j] = state[SINCE, j] = 0.0
            elif state[DIFFERENCE, j] < AGREES**2 * state[SQUARE, j]:
                state[SINCE, j] += h
                if state[SINCE, j] > WINDOW_S:
                    state[USED, j] = 1.0
        if state[USED, j] != 0.0:
            out[j] = velocity[j]
