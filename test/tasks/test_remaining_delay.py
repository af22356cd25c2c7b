"""The time offset that a fit leaves between torque and motion."""

from __future__ import annotations

import numpy as np
import pytest

from robot_id.regression.rows.prediction import PredictedRun, Prediction
from robot_id.tasks.verdict.remaining_delay import remaining_delay


def _torques(time: np.ndarray) -> np.ndarray:
    return np.column_stack([np.sin(3 * time) + 0.4 * np.cos(7 * time), 5 * np.cos(2 * time)])


@pytest.mark.parametrize('late', [-0.02, 0.03])
def test_an_offset_is_told_from_noise(late: float) -> None:
    time = np.arange(800) / 100.0
    noise = 0.01 * np.random.default_rng(3).normal(size=(800, 2))
    measured = _torques(time - late) + noise
    run = PredictedRun(time, measured, _torques(time), np.ones((800, 2), dtype=bool))
    left = remaining_delay(Prediction(('a', 'b'), (run,)))
    # The derivative of the measured torque holds noise too: the least that is left.
    assert left.seconds == pytest.approx(late, rel=0.15)
    assert left.share > 0.5


def test_noise_leaves_none() -> None:
    time = np.arange(800) / 100.0
    noise = 0.05 * np.random.default_rng(4).normal(size=(800, 2))
    used = np.ones((800, 2), dtype=bool)
    run = PredictedRun(time, _torques(time) + noise, _torques(time), used)
    assert remaining_delay(Prediction(('a', 'b'), (run,))).share < 0.05
