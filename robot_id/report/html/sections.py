"""The sections about robot, data, motion, torques, validation and repetition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.run_names import run_labels
from robot_id.methods.result import Result
from robot_id.regression.preprocessing.options import resolve_options
from robot_id.regression.rows.prediction import Prediction
from robot_id.regression.rows.sampling import long_enough, whole_motion
from robot_id.report.html import markup, sections
from robot_id.report.html.markup import number
from robot_id.report.html.provenance import Provenance
from robot_id.report.html.series import has_raw, motion_series
from robot_id.robot import Robot
from robot_id.robot.parameters.units import position_units, torque_units
from robot_id.tasks.validation import Conditions, Validation

Array = NDArray[np.float64]
KEY = 'motion'
_LEAD = (
    'Positions and, below, velocities of every joint, filtered and differentiated as in the fit.'
)


def robot_section(robot: Robot) -> str:
    """Return the section about the robot."""
    limits, rows = robot.limits, []
    units = zip(position_units(robot), torque_units(robot))
    for j, (joint, slides, (unit, force)) in enumerate(zip(robot.joints, robot.prismatic, units)):
        span = f'{number(limits.lower[j], 3)} … {number(limits.upper[j], 3)} {unit}'
        rows.append(
            (
                escape(joint.name),
                'prismatic' if slides else 'revolute',
                ', '.join(joint.friction).replace('_', ' ') or 'none',
                span,
                with_unit(limits.velocity[j], f'{unit}/s'),
                with_unit(limits.acceleration[j], f'{unit}/s²'),
                with_unit(limits.torque[j], force),
            )
        )
    heads = ('joint', 'type', 'friction', 'position', 'speed', 'acceleration', 'torque')
    text = escape(robot.description.description or '')
    content = markup.table(heads, rows, left=3)
    content += markup.details('the robot file', f'<pre>{escape(_robot_file(robot))}</pre>')
    lead = (
        f'{text}{". " if text else ""}{robot.n} joint{"s" if robot.n > 1 else ""}, '
        f'{len(robot.standard_names)} standard parameters, of which {len(robot.base)} base '
        'parameters can be identified. The table holds its limits.'
    )
    return markup.section('robot', f'The robot: {robot.name}', content, lead)


def data_section(
    robot: Robot, dataset: Dataset, result: Result, fitted: Prediction | None = None
) -> str:
    """
    Return the section about the measurements and their processing.

    :param fitted: what was predicted of them, for the error of each of several recordings.
    """
    dataset = dataset.select(robot.joint_names)
    units, forces = position_units(robot), torque_units(robot)
    seconds = sum(run.duration for run in dataset.runs)
    rows = []
    for j, name in enumerate(robot.joint_names):
        q = np.concatenate([run.position[:, j] for run in dataset.runs])
        torques: tuple[str, ...] = ()
        if dataset.has_torque:
            tau = np.concatenate([run.torque[:, j] for run in dataset.runs])
            torques = (
                with_unit(float(np.sqrt(np.mean(tau**2))), forces[j]),
                with_unit(float(np.abs(tau).max()), forces[j]),
            )
        speed = max(
            float(np.abs(np.diff(r.position[:: _coarse(r.rate), j])).max(initial=0.0))
            / (_coarse(r.rate) * r.step)
            for r in dataset.runs
        )
        rows.append(
            (
                escape(name),
                f'{number(q.min(), 3)} … {number(q.max(), 3)} {units[j]}',
                with_unit(speed, f'{units[j]}/s'),
                *torques,
            )
        )
    heads: tuple[str, ...] = ('joint', 'range', 'peak speed')
    if dataset.has_torque:
        heads = (*heads, 'torque RMS', 'torque peak')
    lead = (
        f'{escape(dataset.source or "data")}: {len(dataset.runs)} run'
        f'{"s" if len(dataset.runs) > 1 else ""}, {len(dataset):,} samples at {dataset.rate:.6g} '
        f'Hz, {seconds:.3g} s.'
    )
    done = [*dataset.notes, *result.extras.get('processing', [])]
    used = result.extras.get('equations')
    if used is not None:
        done.append(f'{used:,} equations are left')
    content = markup.table(heads, rows) + recordings(dataset, fitted)
    content += '<h3>What was done to them</h3>' + markup.lines(done)
    return markup.section('data', 'The data', content, lead)


def recordings(dataset: Dataset, fitted: Prediction | None) -> str:
    """Return a table of several recordings with their errors, nothing for a single one."""
    if len(dataset.runs) < 2:
        return ''
    errors: dict[int, float] = {}
    if fitted is not None:
        for run in fitted.runs:
            one = replace(fitted, runs=(run,))
            errors[id(run.recorded)] = one.relative_error_percent
    rows = [
        (
            escape(label),
            f'{len(run):,}',
            f'{run.duration:.4g} s',
            f'{number(errors[id(run)], 3)} %' if id(run) in errors else 'not used, too short',
        )
        for label, run in zip(run_labels(dataset.runs), dataset.runs)
    ]
    heads = ('recording', 'samples', 'length', 'training error')
    return '<h3>The recordings</h3>' + markup.table(heads, rows)


def with_unit(value: float, unit: str) -> str:
    """Return a number with its unit, a dash where there is none."""
    text = number(value, 3)
    return f'{text} {unit}' if math.isfinite(value) else text


def torque_section(prediction: Prediction, key: str, title: str, lead: str) -> str:
    """Return places for the drawings of the script, one for each joint."""
    quantity = prediction.quantity
    plots = ''.join(
        plot(
            key, j, name, f'measured and predicted {quantity} of {name}',
            f'relative error {number(percent, 3)} %',
        )
        for j, (name, percent) in enumerate(
            zip(prediction.joint_names, prediction.relative_error_percent_per_joint)
        )
    )  # fmt: skip
    behind = '<i class="raw"></i> as recorded ' if has_raw(prediction) else ''
    legend = (
        f'<p class="legend">{behind}<i class="measured"></i> measured <i class="predicted"></i> '
        'predicted <i class="residual"></i> residual (its own scale)</p>'
    )
    hint = '<p class="hint">Drag, pinch or use the buttons to zoom; double-click to show all.</p>'
    return markup.section(key, title, zoom_bar(key, legend) + plots + hint, lead)


def plot(key: str, j: int, joint: str, label: str, note: str = '') -> str:
    """Return the place of one drawing of the script."""
    return (
        f'<figure class="plot" data-set="{key}" data-joint="{j}"><figcaption>'
        f'<b>{escape(joint)}</b> <span>{escape(note)}</span><output></output></figcaption>'
        f'<canvas tabindex="0" role="img" aria-label="{escape(label)}"></canvas></figure>'
    )


def zoom_bar(key: str, legend: str) -> str:
    """Return the legend beside the buttons that move the time axis of a set."""
    buttons = ''.join(
        f'<button type="button" data-zoom="{what}" data-set="{key}" aria-label="{text}" '
        f'title="{text}">{sign}</button>'
        for what, sign, text in (
            ('in', '+', 'closer'),
            ('out', '−', 'further'),
            ('left', '←', 'earlier'),
            ('right', '→', 'later'),
            ('all', 'all', 'everything'),
        )
    )
    return f'<div class="bar">{legend}<span>{buttons}</span></div>'


def validation_section(validation: Validation) -> str:
    """Return how the parameters explain other data."""
    lead = (
        f'{escape(validation.source)}: relative {validation.prediction.quantity} error '
        f'{number(validation.torque_relative_error_percent)} % on data that the fit has not seen.'
    )
    if validation.simulation:
        errors = ', '.join(f'{k} {number(v, 3)} %' for k, v in validation.simulation.items())
        lead += f' Closed-loop simulation: {escape(errors)}.'
    content = torque_section(validation.prediction, 'validation', 'Validation', lead)
    return content.replace('</section>', markup.lines(validation.notes) + '</section>')


def repetition_section(result: Result, source: Provenance, names: Sequence[str] = ()) -> str:
    """
    Return the section with everything needed to run it again.

    :param names: of the files that the page holds beside its result.
    """
    options = {k: _text(v) for k, v in result.options.items()}
    content = '<h3>Options</h3>' + markup.facts(options.items())
    links = ' '.join(
        f'<a class="file" download="{escape(name)}" href="#">{escape(name)}</a>'
        for name in ('result.json', *names)
    )
    content += f'<h3>Files in this page</h3><p>{links}</p>'
    return provenance_section(source, content, f', {number(result.elapsed_s, 3)} s of computation')


def provenance_section(source: Provenance, content: str = '', taken: str = '') -> str:
    """
    Return command, versions and files.

    :param content: what stands between them.
    :param taken: how long it took, after the date.
    """
    command = f'<pre class="command">{escape(source.command)}</pre>'
    versions = '<h3>Versions</h3>' + markup.facts(source.versions.items())
    rows = [
        (escape(path), f'{size:,}', f'<code>{digest}</code>')
        for path, size, digest in source.files
    ]
    read = '<h3>Files</h3>' + markup.table(('file', 'bytes', 'SHA-256'), rows) if rows else ''
    lead = f'{escape(source.date)}{taken}.'
    return markup.section('repeat', 'To repeat it', command + content + versions + read, lead)


def _text(value: Any) -> str:
    if value is None:
        return 'none'
    return ', '.join(map(_text, value)) if isinstance(value, (list, tuple)) else str(value)


def _coarse(rate: float) -> int:
    """Return how many samples last 20 ms, over which the noise of a difference is small."""
    return max(1, round(0.02 * rate))


def _robot_file(robot: Robot) -> str:
    content = robot.description.model_dump(mode='json', exclude_none=True, exclude_defaults=True)
    return yaml.safe_dump(content, sort_keys=False, width=99, allow_unicode=True)


def motion_numbers(robot: Robot, result: Result, dataset: Dataset) -> dict[str, Any]:
    """Return what the script of the page draws."""
    dataset = dataset.select(robot.joint_names)
    conditions = Conditions.of(result, dataset.rate)
    processing = resolve_options(
        conditions.processing, dataset, robot, conditions.coulomb_slope
    ).processing
    runs = [dataset.runs[k] for k in long_enough(dataset, processing)[0]]
    motions = [(run.time, *whole_motion(run, processing)[:2]) for run in runs]
    return motion_series(robot.joint_names, motions, position_units(robot), run_labels(runs))


def motion_section(robot: Robot) -> str:
    """Return places for the drawings of the script, one for each joint."""
    legend = (
        '<p class="legend"><i class="position"></i> position <i class="velocity"></i> velocity</p>'
    )
    plots = ''.join(
        sections.plot(KEY, j, name, f'motion of {name}')
        for j, name in enumerate(robot.joint_names)
    )
    return markup.section(KEY, 'The motion', sections.zoom_bar(KEY, legend) + plots, _LEAD)
