"""
Curves as the script of the page reads them: 16-bit whole numbers in base64.

Sixty seconds of six joints at 1 kHz are 2 MB in this form, so a zoom shows every sample. What is
longer is thinned: of each stretch the smallest and the largest value stay, which keeps the shape.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.regression.rows.prediction import PredictedRun, Prediction
from robot_id.report.plots import one_after_another

Array = NDArray[np.float64]
LARGEST = 32767
# A sample that took no part (rest band): the line has a gap there.
GAP = -32768
# Numbers of all joints together; two bytes each, four thirds of it in base64.
BUDGET = 800_000
# Those of what stands behind the curves that are judged: raw torques, and the motion.
BACKGROUND = 200_000
# The script adds the two, so both keep the same samples.
_THINNED_AS = {'residual': 'measured'}


@dataclass(frozen=True)
class Panel:
    """
    One of the two frames of a plot.

    :param lines: names of its curves, the first one drawn first.
    :param units: (n,) of each joint.
    :param share: of the height.
    """

    lines: tuple[str, ...]
    units: Sequence[str]
    share: float


def torque_series(
    prediction: Prediction, units: Sequence[str], labels: Sequence[str], budget: int = BUDGET
) -> dict[str, Any]:
    """
    Return measured torque, residual and raw torque of every joint and run.

    :param labels: (r,) names of the runs.
    """
    n, total = len(prediction.joint_names), sum(len(run.time) for run in prediction.runs)
    every = max(1, -(-2 * n * total // budget))
    raw_total = sum(len(run.recorded) for run in prediction.runs if run.recorded is not None)
    raw_every = max(1, -(-n * raw_total // BACKGROUND))
    curves = []
    for time, run in zip(_times(prediction.runs), prediction.runs):
        measured = np.where(run.used, run.measured, np.nan)
        one = {'measured': (measured, every), 'residual': (measured - run.predicted, every)}
        if (raw := _raw(prediction, run)) is not None:
            one['raw'] = (raw, raw_every)
        curves.append((time, one))
    behind = ('raw',) if has_raw(prediction) else ()
    panels = (
        Panel((*behind, 'measured', 'predicted'), units, 0.68),
        Panel(('residual',), units, 0.32),
    )
    found = series(prediction.joint_names, curves, labels, panels)
    percent = prediction.relative_error_percent_per_joint
    for joint, error in zip(found['joints'], percent):
        joint['percent'] = None if not np.isfinite(error) else round(float(error), 3)
    return found | {'thinned': every}


def motion_series(
    joint_names: Sequence[str],
    motions: Sequence[tuple[Array, Array, Array]],
    units: Sequence[str],
    labels: Sequence[str],
) -> dict[str, Any]:
    """
    Return positions and velocities.

    :param motions: time (N,), position (N, n) and velocity (N, n) of every run.
    """
    n, total = len(joint_names), sum(len(time) for time, _, _ in motions)
    every = max(1, -(-2 * n * total // BACKGROUND))
    times = one_after_another([time for time, _, _ in motions])
    curves = [
        (time, {'position': (q, every), 'velocity': (dq, every)})
        for time, (_, q, dq) in zip(times, motions)
    ]
    panels = (
        Panel(('position',), units, 0.5),
        Panel(('velocity',), [f'{unit}/s' for unit in units], 0.5),
    )
    return series(joint_names, curves, labels, panels)


def series(
    joint_names: Sequence[str],
    runs: Sequence[tuple[Array, dict[str, tuple[Array, int]]]],
    labels: Sequence[str],
    panels: Sequence[Panel],
) -> dict[str, Any]:
    """
    Return curves of every joint and run.

    :param runs: times (N,) of each run, and by name its curves (M, n) with how much to thin them.
    """
    joints: list[dict[str, Any]] = []
    for j, name in enumerate(joint_names):
        steps = {
            key: _step([one[key][0][:, j] for _, one in runs if key in one])
            for key in dict.fromkeys(key for _, one in runs for key in one)
        }
        parts = []
        for label, (time, one) in zip(labels, runs):
            part: dict[str, Any] = {
                'start': round(float(time[0]), 6),
                'end': round(float(time[-1]), 6),
                'label': label,
            }
            for key, (values, every) in one.items():
                kept = thin(one[_THINNED_AS.get(key, key)][0][:, j], every)
                part[key] = _encode(values[kept, j], steps[key])
            parts.append(part)
        shown = [
            {'lines': panel.lines, 'unit': panel.units[j], 'share': panel.share}
            for panel in panels
        ]
        own = {f'{key}_step': step for key, step in steps.items()}
        joints.append({'name': name, 'panels': shown, **own, 'runs': parts})
    return {'joints': joints}


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


def has_raw(prediction: Prediction) -> bool:
    """Whether the torques as they were recorded are known for every run."""
    return prediction.quantity == 'torque' and all(
        run.recorded is not None for run in prediction.runs
    )


def _times(runs: Sequence[PredictedRun]) -> list[Array]:
    return one_after_another([run.time for run in runs])


def _raw(prediction: Prediction, run: PredictedRun) -> Array | None:
    """(M, n) torques as recorded between the first and the last row of a run."""
    recorded = run.recorded
    if recorded is None or not has_raw(prediction):
        return None
    first, last = np.searchsorted(recorded.time, run.time[[0, -1]])
    return recorded.torque[first : last + 1]


def _step(parts: list[Array]) -> float:
    largest = max((float(np.nanmax(np.abs(p))) for p in parts if np.isfinite(p).any()), default=0)
    return largest / LARGEST if largest > 0.0 else 1.0


def _encode(values: Array, step: float) -> str:
    whole = np.where(np.isnan(values), GAP, np.round(np.nan_to_num(values) / step))
    return base64.b64encode(whole.astype('<i2').tobytes()).decode('ascii')
