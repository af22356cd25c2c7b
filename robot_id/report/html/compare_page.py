"""The page of several results side by side: errors, parameters, and how far they are apart."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id import files
from robot_id.report.compare import FAR, Comparison
from robot_id.report.html import markup
from robot_id.report.html.markup import number
from robot_id.report.html.provenance import Provenance
from robot_id.report.html.sections import provenance_section

Array = NDArray[np.float64]
# Half width of a 95 % interval in standard deviations.
HALF = 1.96
# Colours of the results, variables of the style.
_COLOURS = ('measured', 'predicted', 'residual', 'good', 'fair', 'poor')
_ROW, _LEFT, _WIDTH, _RIGHT, _TOP = 22, 90, 720, 14, 10
_APART = (
    f'Apart: distance from the first result in standard deviations of both, from {FAR:g} on bold. '
    'Results of the same recording share its noise, so their distances should be small.'
)
_INTERVALS = (
    'Difference of each parameter from the first result in standard deviations of the first, with '
    '95 % intervals; the axis is linear to ±5 and logarithmic beyond.'
)


def write_comparison(path: str | Path, comparison: Comparison, source: Provenance) -> None:
    """
    Write the page of a comparison.

    :param source: how to repeat it.
    """
    robot = comparison.results[0].robot
    cards = [
        markup.card(
            label, f'{number(result.relative_error_percent, 3)} %',
            f'training error, {(result.verdict or "not judged").replace("_", " ")}',
            {'do_not_use': 'bad'}.get(result.verdict or '', ''),
        )
        for label, result in zip(comparison.labels, comparison.results)
    ]  # fmt: skip
    warnings = [
        f'{label}: {reason}'
        for label, result in zip(comparison.labels, comparison.results)
        for reason in result.reasons
    ]
    parts = [
        _errors(comparison),
        _picture(comparison),
        _table(comparison),
        provenance_section(source),
    ]
    head = markup.cards(cards, warnings)
    files.write_text(path, markup.page(f'{robot}, comparison', head, parts))


def _errors(comparison: Comparison) -> str:
    """Return the figures of every result, and its errors by joint."""
    results = comparison.results
    joints = max((len(r.relative_error_percent_per_joint) for r in results), default=0)
    rows = [
        (
            escape(label),
            escape(result.method),
            f'{number(result.relative_error_percent)} %',
            f'{number(result.holdout_error_percent)} %'
            if np.isfinite(result.holdout_error_percent)
            else '–',
            *(f'{number(e, 3)} %' for e in result.relative_error_percent_per_joint),
            *['–'] * (joints - len(result.relative_error_percent_per_joint)),
            number(result.condition_number, 3),
            f'{number(result.elapsed_s, 3)} s',
        )
        for label, result in zip(comparison.labels, results)
    ]
    each = [f'joint {j + 1}' for j in range(joints)] if joints > 1 else []
    if not each:
        rows = [(*row[:4], *row[4 + joints :]) for row in rows]
    heads = ('result', 'method', 'training', 'hold-out', *each, 'condition', 'time')
    lead = '100 ||measured - predicted|| / ||measured|| of the torques, in all and by joint.'
    return markup.section('errors', 'The errors', markup.table(heads, rows, left=2), lead)


def _table(comparison: Comparison) -> str:
    """Return value and standard deviation of each parameter by each result."""
    apart = comparison.distances()
    rows = []
    for i, name in enumerate(comparison.names):
        cells = [f'<b>{escape(name)}</b>', escape(comparison.units[i])]
        for k in range(len(comparison.labels)):
            value, std = comparison.values[k, i], comparison.std[k, i]
            cells.append(f'{number(value)} ± {number(std, 2)}' if np.isfinite(value) else '–')
            if k:
                far = number(apart[k, i], 2)
                cells.append(f'<b>{far}</b>' if apart[k, i] > FAR else far)
        rows.append(cells)
    heads = ['name', 'unit', escape(comparison.labels[0])]
    for label in comparison.labels[1:]:
        heads += [escape(label), 'apart']
    lead = f'Value ± standard deviation. {_APART}'
    return markup.section('parameters', 'The parameters', markup.table(heads, rows, 2), lead)


def _picture(comparison: Comparison) -> str:
    """Draw the interval of each parameter by each result around the first one."""
    scale = comparison.std[0]
    shown = np.flatnonzero(np.isfinite(comparison.values[0]) & np.isfinite(scale) & (scale > 0.0))
    if not len(shown):
        return ''
    m = len(comparison.labels)
    middle = (comparison.values[:, shown] - comparison.values[0, shown]) / scale[shown]
    half = np.nan_to_num(HALF * comparison.std[:, shown] / scale[shown])
    ends = _compress(np.stack([middle - half, middle, middle + half]))
    reach = float(np.nanmax(np.abs(ends))) * 1.05
    height = _TOP + _ROW * len(shown) + 26

    def across(value: float) -> float:
        return _LEFT + (value / reach + 1.0) / 2.0 * (_WIDTH - _LEFT - _RIGHT)

    bottom = _TOP + _ROW * len(shown)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="intervals">']
    for value in (-1000, -100, -20, -5, -2, 0, 2, 5, 20, 100, 1000):
        place = float(_compress(np.array(float(value))))
        if abs(place) <= reach:
            x = across(place)
            parts.append(
                f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
                f'<text class="middle" x="{x:.1f}" y="{bottom + 14}">{value}</text>'
            )
    for row, i in enumerate(shown):
        y = _TOP + _ROW * (row + 0.5)
        name = escape(comparison.names[i])
        parts.append(f'<text class="end" x="{_LEFT - 8}" y="{y + 3.5:.1f}">{name}</text>')
        for k in range(m):
            low, centre, high = ends[:, k, row]
            if not np.isfinite(centre):
                continue
            at = y + 0.62 * _ROW * ((k + 0.5) / m - 0.5)
            style = f'style="stroke:var(--{_colour(k)});fill:var(--{_colour(k)})"'
            parts.append(
                f'<line {style} stroke-width="1.6" x1="{across(low):.1f}" x2="{across(high):.1f}" '
                f'y1="{at:.1f}" y2="{at:.1f}"/><circle {style} cx="{across(centre):.1f}" '
                f'cy="{at:.1f}" r="2.6"><title>{escape(comparison.labels[k])}</title></circle>'
            )
    legend = ' '.join(
        f'<i style="background:var(--{_colour(k)})"></i> {escape(label)}'
        for k, label in enumerate(comparison.labels)
    )
    drawing = f'<p class="legend">{legend}</p>{"".join(parts)}</svg>'
    return markup.section('intervals', 'How far apart', drawing, _INTERVALS)


def _compress(values: Array) -> Array:
    """Return values up to 5 as they are, beyond by their logarithm, without a step."""
    size = np.abs(values)
    far = 5.0 * (1.0 + np.log(np.maximum(size, 5.0) / 5.0))
    return np.sign(values) * np.where(size <= 5.0, size, far)


def _colour(k: int) -> str:
    return _COLOURS[k % len(_COLOURS)]
