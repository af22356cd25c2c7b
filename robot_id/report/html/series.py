"""
Torques as the script of the page reads them: 16-bit whole numbers in base64.

Sixty seconds of six joints at 1 kHz are 2 MB in this form, so a zoom shows every sample. What is
longer is thinned: of each stretch the smallest and the largest torque stay, which keeps the shape.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.rows.prediction import Prediction
from robot_id.report.plots import one_after_another

Array = NDArray[np.float64]
LARGEST = 32767
# A sample that took no part (rest band): the line has a gap there.
GAP = -32768
# Numbers of all joints together; two bytes each, four thirds of it in base64.
BUDGET = 800_000


def torque_series(
    prediction: Prediction, units: tuple[str, ...], budget: int = BUDGET
) -> dict[str, Any]:
    """Return measured torque and residual of every joint and run."""
    n, total = len(prediction.joint_names), sum(len(run.time) for run in prediction.runs)
    every = max(1, -(-2 * n * total // budget))
    times = one_after_another([run.time for run in prediction.runs])
    percent = prediction.relative_error_percent_per_joint
    joints = []
    for j, name in enumerate(prediction.joint_names):
        measured = [np.where(r.used[:, j], r.measured[:, j], np.nan) for r in prediction.runs]
        residual = [m - r.predicted[:, j] for m, r in zip(measured, prediction.runs)]
        m_step, r_step = _step(measured), _step(residual)
        runs = []
        for time, m, r in zip(times, measured, residual):
            kept = thin(m, every)
            runs.append(
                {
                    'start': round(float(time[0]), 6),
                    'end': round(float(time[-1]), 6),
                    'measured': _encode(m[kept], m_step),
                    'residual': _encode(r[kept], r_step),
                }
            )
        joints.append(
            {
                'name': name,
                'unit': units[j],
                'percent': None if not np.isfinite(percent[j]) else round(float(percent[j]), 3),
                'measured_step': m_step,
                'residual_step': r_step,
                'runs': runs,
            }
        )
    return {'joints': joints, 'thinned': every}


def thin(values: Array, every: int) -> NDArray[np.int64]:
    """Return the indices to keep, two of each 2 * every: where the smallest and largest are."""
    if every <= 1:
        return np.arange(len(values))
    size = 2 * every
    full = len(values) // size * size
    blocks = values[:full].reshape(-1, size)
    low = np.argmin(np.where(np.isnan(blocks), np.inf, blocks), axis=1)
    high = np.argmax(np.where(np.isnan(blocks), -np.inf, blocks), axis=1)
    pairs = np.sort(np.stack([low, high], axis=1), axis=1)
    kept = (pairs + size * np.arange(len(blocks))[:, None]).ravel()
    return np.concatenate([kept, np.arange(full, len(values), every)])


def _step(parts: list[Array]) -> float:
    largest = max((float(np.nanmax(np.abs(p))) for p in parts if np.isfinite(p).any()), default=0)
    return largest / LARGEST if largest > 0.0 else 1.0


def _encode(values: Array, step: float) -> str:
    whole = np.where(np.isnan(values), GAP, np.round(np.nan_to_num(values) / step))
    return base64.b64encode(whole.astype('<i2').tobytes()).decode('ascii')
