"""The sections about robot, data, torques, validation and repetition."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import yaml

from robot_id.data.dataset import Dataset
from robot_id.methods.result import Result
from robot_id.regression.rows.prediction import Prediction
from robot_id.report.html import markup
from robot_id.report.html.markup import number
from robot_id.report.html.provenance import Provenance
from robot_id.robot import Robot
from robot_id.tasks.validation import Validation


def robot_section(robot: Robot) -> str:
    """Return the section about the robot."""
    limits, rows = robot.limits, []
    for j, (joint, slides) in enumerate(zip(robot.joints, robot.prismatic)):
        span = f'{number(limits.lower[j], 3)} … {number(limits.upper[j], 3)}'
        rows.append(
            (
                escape(joint.name),
                'prismatic' if slides else 'revolute',
                ', '.join(joint.friction).replace('_', ' ') or 'none',
                span,
                *(number(x[j], 3) for x in (limits.velocity, limits.acceleration, limits.torque)),
            )
        )
    heads = ('joint', 'type', 'friction', 'position', 'speed', 'acceleration', 'torque')
    text = escape(robot.description.description or '')
    content = markup.table(heads, rows, left=3)
    content += markup.details('the robot file', f'<pre>{escape(_robot_file(robot))}</pre>')
    lead = (
        f'{text}{". " if text else ""}{robot.n} joint{"s" if robot.n > 1 else ""}, '
        f'{len(robot.standard_names)} standard parameters, of which {len(robot.base)} base '
        'parameters can be identified. Limits in SI units.'
    )
    return markup.section('robot', f'The robot: {robot.name}', content, lead)


def data_section(robot: Robot, dataset: Dataset, result: Result) -> str:
    """Return the section about the measurements and their processing."""
    dataset = dataset.select(robot.joint_names)
    seconds = sum(run.duration for run in dataset.runs)
    rows = []
    for j, name in enumerate(robot.joint_names):
        q = np.concatenate([run.position[:, j] for run in dataset.runs])
        torques: tuple[str, ...] = ()
        if dataset.has_torque:
            tau = np.concatenate([run.torque[:, j] for run in dataset.runs])
            torques = (
                number(float(np.sqrt(np.mean(tau**2))), 3),
                number(float(np.abs(tau).max()), 3),
            )
        speed = max(
            float(np.abs(np.diff(r.position[:: _coarse(r.rate), j])).max(initial=0.0))
            / (_coarse(r.rate) * r.step)
            for r in dataset.runs
        )
        rows.append(
            (
                escape(name),
                f'{number(q.min(), 3)} … {number(q.max(), 3)}',
                number(speed, 3),
                *torques,
            )
        )
    heads: tuple[str, ...] = ('joint', 'position', 'top speed')
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
    content = markup.table(heads, rows) + '<h3>What was done to them</h3>' + markup.lines(done)
    return markup.section('data', 'The data', content, lead)


def torque_section(prediction: Prediction, key: str, title: str, lead: str) -> str:
    """Return places for the drawings of the script, one for each joint."""
    plots = ''.join(
        f'<figure class="plot" data-set="{key}" data-joint="{j}"><figcaption>'
        f'<b>{escape(name)}</b> <span>relative error {number(percent, 3)} %</span>'
        '<output></output></figcaption><canvas tabindex="0" role="img" aria-label="measured and '
        f'predicted {prediction.quantity} of {escape(name)}"></canvas></figure>'
        for j, (name, percent) in enumerate(
            zip(prediction.joint_names, prediction.relative_error_percent_per_joint)
        )
    )
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
    legend = (
        '<p class="legend"><i class="measured"></i> measured <i class="predicted"></i> predicted '
        '<i class="residual"></i> residual (its own scale)</p>'
    )
    bar = f'<div class="bar">{legend}<span>{buttons}</span></div>'
    hint = '<p class="hint">Drag, pinch or use the buttons to zoom; double-click to show all.</p>'
    return markup.section(key, title, bar + plots + hint, lead)


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


def repetition_section(result: Result, source: Provenance) -> str:
    """Return the section with everything needed to run it again."""
    options = {k: _text(v) for k, v in result.options.items()}
    content = f'<pre class="command">{escape(source.command)}</pre>'
    content += '<h3>Options</h3>' + markup.facts(options.items())
    content += '<h3>Versions</h3>' + markup.facts(source.versions.items())
    rows = [
        (escape(path), f'{size:,}', f'<code>{digest}</code>')
        for path, size, digest in source.files
    ]
    if rows:
        content += '<h3>Files</h3>' + markup.table(('file', 'bytes', 'SHA-256'), rows)
    content += '<p><a id="save" download="result.json" href="#">save the result as JSON</a></p>'
    lead = f'{escape(source.date)}, {number(result.elapsed_s, 3)} s of computation.'
    return markup.section('repeat', 'To repeat it', content, lead)


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
