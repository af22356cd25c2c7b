"""The section about simulated positions: every run, and the error against the horizon."""

from __future__ import annotations

from html import escape

from robot_id.methods.result import Result
from robot_id.report.html import markup
from robot_id.report.html.markup import number

LEAD = (
    'The simulated servo loop under the recorded commands alone, from the measured first state of '
    'each run on; positions less their mean.'
)

NONE = {'mean_absolute_error': float('nan')}


def servo_section(result: Result) -> str:
    """Return position errors by run and by horizon, nothing for a fit of torques."""
    extras = result.extras
    if 'horizons' not in extras:
        return ''
    held = {row['run']: row for row in extras.get('holdout', ())}
    rows = [
        (
            escape(row.get('name') or f'run {row["run"]}'),
            number(1e3 * row['mean_absolute_error'], 3),
            number(1e3 * row['rms_error'], 3),
            number(1e3 * row['largest_error'], 3),
            number(1e3 * held[row['run']]['mean_absolute_error'], 3)
            if row['run'] in held
            else '-',
        )
        for row in extras['runs']
    ]
    horizons = [
        (
            'whole run' if row['horizon_s'] is None else f'{row["horizon_s"]:g} s',
            number(1e3 * row['mean_absolute_error'], 3),
            str(row['predictions']),
        )
        for row in extras['horizons']
    ]
    heads = ('run', 'mean absolute error', 'RMS', 'largest', 'mean, held out')
    content = markup.table(heads, rows)
    content += '<h3>Error against the horizon</h3>'
    content += markup.table(('horizon', 'mean absolute error', 'predictions'), horizons)
    content += '<h3>What the data determine</h3>' + markup.lines(
        [*extras.get('not_identifiable', ()), extras.get('scale', '')]
    )
    lead = escape(f'Errors in 1e-3 rad or m. Drive: {extras.get("drive", "")}.')
    return markup.section('positions', 'Simulated positions', content, lead)
