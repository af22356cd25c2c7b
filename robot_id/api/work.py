"""Long work by names of files, with plain answers: what a page has done in another process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_id.api import verbs
from robot_id.api.fit import Fit
from robot_id.data.dataset import Dataset
from robot_id.excitation.clearance import clearance_of
from robot_id.progress import Progress, silent
from robot_id.robot import load_robot
from robot_id.tasks.checks.fixing import CERTAIN, save_corrected
from robot_id.tasks.friction.curves import friction_curves

# Points of a drawn curve.
POINTS = 2000
Recordings = Sequence[tuple[str, str]]


def datasets(robot: Any, recordings: Recordings) -> list[Dataset]:
    """Read recordings, each with its own mapping."""
    return [verbs.load(path, robot=robot, mapping=mapping or None) for path, mapping in recordings]


def check(
    robot: str, recordings: Recordings, json: str = '', progress: Progress = silent
) -> dict[str, Any]:
    """Return the findings of recordings, with what `--fix` could do."""
    model = load_robot(robot)
    found = verbs.check(model, datasets(model, recordings), progress=progress)
    if json:
        found.save(json)
    return {
        'findings': [
            one.as_dict() | {'fixable': one.remedy is not None and one.certainty >= CERTAIN}
            for one in found
        ]
    }


def fix(
    robot: str, recordings: Recordings, folder: str, json: str = '', progress: Progress = silent
) -> dict[str, Any]:
    """Write the corrected recording into a folder and return its files."""
    model = load_robot(robot)
    whole = datasets(model, recordings)[0]
    found = verbs.check(model, whole, progress=progress)
    written = save_corrected(Path(folder), model, whole, found)
    return {'files': [str(path) for path in written]}


def identify(
    robot: str,
    recordings: Recordings,
    method: str = 'idim_wls',
    friction: str | None = None,
    physical: bool | None = None,
    holdout: float = 0.2,
    options: Mapping[str, Any] | None = None,
    json: str = '',
    progress: Progress = silent,
) -> dict[str, Any]:
    """Identify, save the fit, and return what is shown of it."""
    started = time.monotonic()
    model = load_robot(robot)
    fit = verbs.identify(
        model, datasets(model, recordings), method, friction=friction, physical=physical,
        holdout=holdout, progress=progress, **(options or {}),
    )  # fmt: skip
    fit.save(json)
    return shown(fit) | {'seconds': time.monotonic() - started, 'json': json}


def shown(fit: Fit) -> dict[str, Any]:
    """Return what is shown of a fit with its data: figures, curves, parameters."""
    result, robot = fit.result, fit.model.robot
    prior = np.full(len(result.names), np.nan)
    described = robot.standard_prior()
    if np.any(described):
        known = dict(zip(robot.base.names, robot.base.from_standard(described)))
        prior = np.array([known.get(name, np.nan) for name in result.names])
    std = result.std
    with np.errstate(divide='ignore', invalid='ignore'):
        correlation = result.covariance / np.outer(std, std)
    low, high = fit.parameters.interval.T
    return {
        'method': fit.method,
        'verdict': result.verdict or 'not judged',
        'reasons': list(result.reasons),
        'error_percent': fit.error_percent,
        'errors': fit.joint_errors_percent,
        'holdout': fit.holdout_error_percent,
        'condition': result.condition_number,
        'parameters': [
            (name, value, unit, s, lo, hi, p, bool(e))
            for name, value, unit, s, lo, hi, p, e in zip(
                result.names, result.values, fit.parameters.units, std, low, high, prior,
                fit.parameters.essential,
            )
        ],
        'correlation': np.nan_to_num(correlation),
        'torques': _torques(fit),
        'friction': _friction(fit),
        'warnings': list(fit.warnings),
        'suggestions': _suggestions(fit),
    }  # fmt: skip


def _suggestions(fit: Fit) -> list[str]:
    """Return what would improve a fit, one line each: what was tried, and what hardly moved."""
    poor = [one for one in fit.result.findings if one.get('code') in ('excitation', 'rest')]
    return [
        *(one['text'] for one in fit.result.suggestions),
        *(f"joint '{one['joint']}' moves too little: {one.get('fix', '')}"
          for one in poor if one.get('joint')),
    ]  # fmt: skip


def _torques(fit: Fit) -> dict[str, Any]:
    """Return measured, predicted and residual torques, runs one after the other."""
    prediction = fit.prediction()
    runs, end, times = prediction.runs, 0.0, []
    for run in runs:
        times.append(run.time - run.time[0] + end)
        end = float(times[-1][-1]) + 1.0
    measured = np.concatenate([run.measured for run in runs])
    predicted = np.concatenate([run.predicted for run in runs])
    return {
        'joints': list(prediction.joint_names),
        'quantity': prediction.quantity,
        'time': np.concatenate(times),
        'channels': {
            'measured': measured, 'predicted': predicted, 'residual': measured - predicted,
        },
    }  # fmt: skip


def _friction(fit: Fit) -> list[dict[str, Any]]:
    """Return the friction of every joint against velocity, thinned."""
    if not fit.dataset().has_torque:
        return []
    found = []
    for curve in friction_curves(fit.robot, fit.result, fit.dataset()):
        step = max(len(curve.velocity) // POINTS, 1)
        found.append({
            'joint': curve.joint, 'velocity': curve.velocity[::step],
            'measured': curve.measured[::step], 'grid': curve.grid, 'fitted': curve.fitted,
            'units': (curve.velocity_unit, curve.torque_unit),
        })  # fmt: skip
    return found


def excite(
    robot: str, seconds: float = 10.0, budget_s: float = 30.0, criterion: str = 'determinant',
    fraction: float = 0.9, clearance_m: float = 0.02, floor: bool = True,
    json: str = '', progress: Progress = silent,
) -> dict[str, Any]:  # fmt: skip
    """Find a motion, save it beside its figures, and return both with the closest links."""
    from robot_id.files import write_text
    from robot_id.trajectory.reference_csv import write_reference_csv
    from robot_id.trajectory.store import save_trajectory

    model = load_robot(robot)
    found = verbs.excite(
        model, seconds=seconds, budget_s=budget_s, clearance_m=clearance_m, floor=floor,
        criterion=criterion, fraction=fraction, progress=progress,
    )  # fmt: skip
    motion = found.trajectory.sampled(100.0)
    write_text(json, _json(found.to_dict()))
    place = Path(json)
    save_trajectory(found.trajectory, place.with_suffix('.yaml'), model.joint_names)
    sampled = found.trajectory.sampled(found.options.rate_hz)
    write_reference_csv(sampled, place.with_suffix('.csv'), model.joint_names)
    clearance = clearance_of(model, clearance_m, floor)
    distance, pair = (np.nan, '') if clearance is None else clearance.worst(motion.position)
    return found.to_dict() | {
        'time': np.arange(len(motion.position)) / 100.0,
        'position': motion.position,
        'closest': (float(distance), pair),
        'files': [str(place.with_suffix(end)) for end in ('.csv', '.yaml')],
        'json': json,
    }


def payload(
    robot: str, loaded: Recordings, unloaded: Recordings, arm: str = '', tool: str = '',
    strategy: str = '', json: str = '', progress: Progress = silent,
) -> dict[str, Any]:  # fmt: skip
    """Identify a load, from recordings without it or a fit of the arm; return its lines."""
    model = load_robot(robot)
    without = datasets(model, unloaded)
    found = verbs.identify_payload(
        model, datasets(model, loaded), without[0] if without else None, arm=arm or None,
        tool=tool or None, strategy=strategy or None, progress=progress,
    )  # fmt: skip
    found.save(json)
    return {'lines': found.lines(), 'warnings': list(found.warnings), 'json': json}


def export(
    fit: str, path: str, format: str, robot: str = '', force: bool = False, json: str = '',
    progress: Progress = silent,
) -> dict[str, Any]:  # fmt: skip
    """Write a fit for another program."""
    lines = verbs.load_fit(fit, robot=robot or None).export(path, format=format, force=force)
    return {'lines': lines, 'files': [path]}


def report(
    fit: str, path: str, recordings: Recordings, robot: str, json: str = '',
    progress: Progress = silent,
) -> dict[str, Any]:  # fmt: skip
    """Write the HTML report of a fit."""
    found = verbs.load_fit(fit, robot=robot)
    data = datasets(found.robot, recordings)
    found.report(path, data=data if len(data) > 1 else data[0],
                 files=[each for each, _ in recordings])  # fmt: skip
    return {'files': [path]}


def compare(fits: Sequence[str], robot: str = '', progress: Progress = silent) -> dict[str, Any]:
    """Return several fits side by side."""
    from robot_id.api.fit import compare as side_by_side

    found = [verbs.load_fit(each, robot=robot or None) for each in fits]
    made = side_by_side(*found, labels=[Path(each).stem for each in fits])
    return {
        'labels': list(made.labels), 'names': list(made.names), 'values': made.values,
        'std': made.std, 'apart': made.distances(),
        'errors': [each.error_percent for each in found],
    }  # fmt: skip


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1) + '\n'


WORK: dict[str, Callable[..., dict[str, Any]]] = {
    'check': check, 'fix': fix, 'identify': identify, 'excite': excite, 'payload': payload,
    'export': export, 'report': report, 'compare': compare,
}  # fmt: skip
