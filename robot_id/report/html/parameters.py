"""The sections about what was found: parameters, residuals, convergence, correlation, friction."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from robot_id.methods.idim.common import judge
from robot_id.methods.result import Result
from robot_id.regression.rows.prediction import Prediction
from robot_id.report.html import charts, markup
from robot_id.report.html.markup import number
from robot_id.report.html.svg import Chart, stride
from robot_id.robot import Robot
from robot_id.tasks.friction.curves import FrictionCurve

Array = NDArray[np.float64]
# Papers take a parameter for well identified below 10 or 15 % and for poorly known above 30 %.
GOOD, FAIR = 10.0, 30.0
_LEAD = (
    'Measured torque less that of the rigid model, against velocity, and the friction that was '
    'fitted. Points off the curve at low speed ask for another friction term; a cloud that is '
    'wide everywhere is not friction but what the rigid model leaves.'
)


def parameter_section(robot: Robot, result: Result) -> str:
    """Return all parameters, the best known first."""
    percent = np.where(np.isfinite(result.percent_std), result.percent_std, np.inf)
    flags = np.ones(len(result.names), bool) if result.essential is None else result.essential
    order = np.lexsort((percent, ~flags))
    groupings = {name: robot.base.grouping(k) for k, name in enumerate(robot.base.names)}
    units = result.units or ('',) * len(result.names)
    rows = []
    for i in order:
        rows.append(
            (
                f'<b>{escape(result.names[i])}</b>',
                number(result.values[i], 5),
                number(result.std[i], 2),
                escape(units[i]),
                number(percent[i], 3),
                _meter(percent[i], bool(flags[i]), left_out=result.values[i] == 0.0),
                f'<small>{escape(_right_side(groupings.get(result.names[i], "")))}</small>',
            )
        )
    heads = (
        'name', 'value', 'standard deviation', 'unit', '%', 'how well known', 'what it groups',
    )  # fmt: skip
    well = int(np.sum((percent < GOOD) & flags))
    lead = (
        f'{well} of {len(result.names)} parameters are known to better than {GOOD:g} %. Values '
        'are on the joint side; % is 100 standard deviations / |value|.'
    )
    content = markup.table(heads, rows, kind='parameters sortable')
    if 'removed' in result.extras:
        removed = ', '.join(result.extras['removed']) or 'none'
        lead += f' Removed as not essential: {escape(removed)}.'
    return markup.section('parameters', 'The parameters', content, lead)


def _meter(percent: float, essential: bool, left_out: bool) -> str:
    """
    Return a bar that is full at 0.1 % and empty at 1000 %.

    :param left_out: the model is without it, its value is zero.
    """
    if not essential and left_out:
        return '<span class="off">left out</span>'
    if not essential:
        return '<span class="off">not essential: zero is in its 95 % interval</span>'
    if not np.isfinite(percent):
        return '<span class="off">not known</span>'
    share = float(np.clip((3.0 - np.log10(max(percent, 1e-3))) / 4.0, 0.02, 1.0))
    kind = 'good' if percent < GOOD else 'fair' if percent < FAIR else 'poor'
    return f'<span class="meter {kind}"><i style="width:{100 * share:.0f}%"></i></span>'


def _right_side(grouping: str) -> str:
    name, _, right = grouping.partition(' = ')
    return right if right and right != name else ''


def residual_section(prediction: Prediction, result: Result, units: Sequence[str]) -> str:
    """
    Return the section on whether the residuals are noise.

    :param units: (n,) of the residuals.
    """
    judged = judge(prediction)
    white = result.options.get('deviations', 'classical') == 'classical'
    rows, pictures = [], []
    norms = prediction.residual_norms()
    for j, (name, w) in enumerate(zip(prediction.joint_names, judged)):
        count = sum(int(run.used[:, j].sum()) for run in prediction.runs)
        rows.append(
            (
                escape(name),
                f'{number(float(norms[j]) / np.sqrt(max(count, 1)), 3)} {units[j]}',
                number(w.lag_1, 2),
                number(w.ljung_box_p, 2),
                *([number(w.factor, 3)] if white else []),
            )
        )
        pictures.append(
            f'<figure><figcaption><b>{escape(name)}</b></figcaption>'
            f'{charts.whiteness_chart(prediction, j)}{charts.distribution_chart(prediction, j)}'
            '</figure>'
        )
    heads: tuple[str, ...] = ('joint', 'RMS', 'lag 1', 'p (Ljung-Box)')
    effect = 'the standard deviations allow for it'
    if white:
        heads += ('standard deviations may be too small by',)
        effect = 'the standard deviations are too small by the factor in the last column'
    lead = (
        'White residuals mean that the model explains everything but noise. A small p says that '
        f'they are not white: something is left unmodelled; {effect}. Bars beyond the dashed '
        'lines are not chance; the curve over the distribution is the normal one.'
    )
    content = markup.table(heads, rows) + f'<div class="pairs">{"".join(pictures)}</div>'
    return markup.section('residuals', 'The residuals', content, lead)


def convergence_section(result: Result) -> str:
    """Return how an iterative method came to its result; nothing for a direct one."""
    if len(result.history) < 2:
        return ''
    rows = [
        (str(k + 1), number(step.relative_error_percent), number(step.step, 3))
        for k, step in enumerate(result.history)
    ]
    shown = rows if len(rows) <= 25 else [*rows[:10], ('…', '', ''), *rows[-10:]]
    pictures = ''.join(
        f'<figure><figcaption>{title}</figcaption>{chart}</figure>'
        for title, chart in (
            ('relative error, %', charts.error_chart(result.history)),
            (
                'each parameter: distance from its last value in standard deviations',
                charts.parameter_chart(result.history, result.std),
            ),
        )
        if chart
    )
    end = 'has converged' if result.converged else 'has NOT converged'
    lead = f'{result.method} {end} after {result.iterations} iterations'
    lead += f' and {result.simulations} simulations.' if result.simulations else '.'
    content = f'<div class="pairs">{pictures}</div>'
    content += markup.details('the iterations', markup.table(
        ('iteration', 'relative error, %', 'step'), shown))  # fmt: skip
    return markup.section('convergence', 'Convergence', content, lead)


def correlation_section(result: Result) -> str:
    """Return which parameters the data can hardly separate."""
    known = np.flatnonzero(np.isfinite(np.diag(result.covariance)) & (result.std > 0.0))
    if len(known) < 2:
        return ''
    correlation = charts.correlation_of(result.covariance[np.ix_(known, known)])
    names = [result.names[i] for i in known]
    upper = [(abs(correlation[i, k]), i, k) for i in range(len(names)) for k in range(i)]
    rows = [
        (escape(names[k]), escape(names[i]), f'{correlation[i, k]:+.3f}')
        for _, i, k in sorted(upper, reverse=True)[:12]
    ]
    content = (
        f'<div class="pairs"><figure>{charts.correlation_chart(correlation, names)}'
        '<figcaption><output id="cell">point at a cell</output></figcaption></figure>'
        + markup.table(('parameter', 'with', 'correlation'), rows, left=2)
        + '</div>'
    )
    lead = (
        'Two parameters with a correlation near ±1 act alike in this motion: only their '
        'combination is well known. A richer motion separates them.'
    )
    return markup.section('correlation', 'Correlation of the parameters', content, lead)


def friction_section(curves: Sequence[FrictionCurve]) -> str:
    """Return a drawing for each joint, nothing without joints."""
    if not curves:
        return ''
    pictures = ''.join(
        f'<figure><figcaption><b>{escape(curve.joint)}</b></figcaption>{chart(curve)}</figure>'
        for curve in curves
    )
    legend = (
        '<p class="legend"><i class="measured"></i> measured <i class="predicted"></i> fitted</p>'
    )
    content = f'{legend}<div class="pairs">{pictures}</div>'
    return markup.section('friction', 'Friction', content, _LEAD)


def chart(curve: FrictionCurve) -> Chart:
    """Draw one joint."""
    at = stride(len(curve.velocity))
    everything = np.concatenate([curve.measured[at], curve.fitted])
    low, high = float(everything.min()), float(everything.max())
    pad = 0.05 * (high - low) or 1.0
    drawn = Chart(
        (float(curve.grid[0]), float(curve.grid[-1])),
        (low - pad, high + pad),
        f'friction of {curve.joint} against velocity',
        x_title=f'velocity, {curve.velocity_unit}',
        y_title=curve.torque_unit,
    )
    drawn.cloud(curve.velocity[at], curve.measured[at], 'cloud')
    # Two lines: friction steps at zero speed, a slope there would be drawn where none is.
    middle = len(curve.grid) // 2
    for side in (slice(0, middle), slice(middle + 1, None)):
        drawn.line(curve.grid[side], curve.fitted[side], 'predicted')
    return drawn
