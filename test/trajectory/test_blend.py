"""Ways into and out of a motion."""

from __future__ import annotations

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory import Fourier, Quintic, blend


@given(seed=st.integers(0, 10**6), moving=st.booleans())
@settings(max_examples=40, deadline=None)
def test_blend_is_smooth_at_rest_outside_and_within_bounds(seed: int, moving: bool) -> None:
    rng = np.random.default_rng(seed)
    make = Fourier if moving else Fourier.at_rest
    motion = make(5.0, rng.uniform(-1.0, 1.0, 3), *rng.normal(size=(2, 3, 4)))
    peak = motion.extremes()
    velocity, acceleration = 1.2 * peak.velocity, 1.2 * peak.acceleration
    posture = rng.uniform(-2.0, 2.0, 3)
    whole = blend(motion, posture, velocity, acceleration)
    assert whole.ends_at_rest(tolerance=1e-7)
    np.testing.assert_allclose(whole.sample([0.0, whole.duration])[0], [posture] * 2, atol=1e-9)
    t = np.linspace(0.0, whole.duration, 20001)
    q, dq, ddq = whole.sample(t)
    assert np.all(np.abs(dq) <= velocity * (1 + 1e-6))
    assert np.all(np.abs(ddq) <= acceleration * (1 + 1e-6))
    # Continuous up to the acceleration: no step larger than the next derivative explains.
    step = t[1]
    assert np.abs(np.diff(q, axis=0)).max() <= 1.01 * step * np.abs(dq).max()
    assert np.abs(np.diff(dq, axis=0)).max() <= 1.01 * step * np.abs(ddq).max()
    middle = whole.breaks[1]
    for a, b in zip(whole.sample(middle + np.arange(5.0)), motion.sample(np.arange(5.0))):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_blend_to_rest_is_as_short_as_the_bounds_allow() -> None:
    motion = Quintic([[1.0], [2.0]], 2.0)
    whole = blend(motion, [0.0], velocity=0.5, acceleration=100.0, back=False)
    assert whole.breaks[1] == pytest.approx(15.0 / 8.0 / 0.5, rel=1e-6)


def test_blend_without_need_adds_nothing() -> None:
    motion = Quintic([[1.0], [2.0], [1.0]], 2.0)
    assert blend(motion, [1.0], 1.0, 1.0).duration == motion.duration


def test_impossible_blends_are_one_clear_line() -> None:
    motion = Quintic([[1.0], [2.0]], 2.0)
    with refused(TrajectoryError, code='no_limits'):
        blend(motion, [0.0], np.inf, np.inf)
    with refused(TrajectoryError, code='limits_exceeded'):
        blend(motion, [0.0], 1.0, 1.0, lower=0.5)
    with refused(TrajectoryError, code='not_positive'):
        blend(motion, [0.0], 0.0, 1.0)
    with refused(TrajectoryError, code='shape'):
        blend(motion, [0.0, 1.0], 1.0, 1.0)
