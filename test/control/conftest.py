"""Robots and motions for the tests of the control room."""

import numpy as np
import pytest

from robot_id.trajectory import Fourier


@pytest.fixture(scope='session')
def fourier_cycle():
    """Return a function: a random cycle at up to 60 % of the speed limits, from rest to rest."""

    def make(robot, duration, seed=0, still=()):
        rng = np.random.default_rng(seed)
        order = np.arange(1.0, 6.0)
        S, C = (rng.normal(size=(robot.n, 5)) / order for _ in range(2))
        start = np.clip(0.3, robot.limits.lower, robot.limits.upper)
        limits = Fourier.at_rest(duration, start, S, C).extremes()
        scale = 1.0 / np.maximum.reduce(
            [
                limits.velocity / robot.limits.velocity / 0.6,
                limits.acceleration / robot.limits.acceleration / 0.4,
                (limits.upper - limits.lower) / 2.5,
            ]
        )
        scale[list(still)] = 0.0
        return Fourier.at_rest(duration, start, S * scale[:, None], C * scale[:, None])

    return make
