"""The pictures of a campaign: coverage, error against noise, time against error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from robot_id.experiment.campaign.summary import Group
from robot_id.report.campaign.advice import front
from robot_id.report.html.svg import Chart


def coverage_picture(groups: Sequence[Group]) -> str:
    """Draw how often the 68 and 95 % intervals of each method hold, with their uncertainty."""
    x = (0.5, len(groups) + 0.5)
    chart = Chart(x, (0.0, 100.0), 'coverage of the intervals, percent', x_title='method')
    for k, group in enumerate(groups, start=1):
        for share, kind, aside in (
            (group.coverage_68, 'small', -0.1),
            (group.coverage_95, 'dot', 0.1),
        ):
            if math.isfinite(share.value):
                place = k + aside
                chart.line((place, place), (100 * share.low, 100 * share.high), 'measured')
                chart.dots((place,), (100 * share.value,), kind)
    for level in (68.0, 95.0):
        chart.level(level, 'limit')
    return _figure(chart, 'Coverage of the 68 % (left) and 95 % (right) intervals', groups)


def time_picture(groups: Sequence[Group]) -> str:
    """Draw the torque error against the time; the line joins the undominated methods."""
    known = [g for g in groups if g.torque_error > 0.0 and g.seconds > 0.0]
    if not known:
        return ''
    times, errors = (
        [math.log10(1e3 * g.seconds) for g in known],
        [g.torque_error for g in known],
    )
    chart = Chart(
        (min(times) - 0.3, max(times) + 0.3), (min(errors) / 1.5, max(errors) * 1.5),
        'torque error against time', log=True, x_title='log10 of ms',
    )  # fmt: skip
    best = front(known)
    chart.line(
        [math.log10(1e3 * g.seconds) for g in best], [g.torque_error for g in best], 'measured'
    )
    chart.dots(times, errors, 'dot')
    text = 'Torque error on hold-out [%] against time; nobody beats ' + ', '.join(
        g.method for g in best
    )
    return f'<figure>{chart}<figcaption>{escape(text)}</figcaption></figure>'


def noise_picture(conditions: Sequence[Sequence[Group]]) -> str:
    """Draw the torque error of each method over conditions that differ by their noise alone."""
    errors = [g.torque_error for groups in conditions for g in groups if g.torque_error > 0.0]
    if len(conditions) < 2 or not errors:
        return ''
    chart = Chart(
        (0.5, len(conditions) + 0.5), (min(errors) / 1.5, max(errors) * 1.5),
        'torque error against noise', log=True, x_title='noise',
    )  # fmt: skip
    methods = list(dict.fromkeys(g.method for groups in conditions for g in groups))
    for method in methods:
        points = [
            (k, g.torque_error)
            for k, groups in enumerate(conditions, start=1)
            for g in groups
            if g.method == method and g.torque_error > 0.0
        ]
        chart.line([k for k, _ in points], [e for _, e in points], 'measured')
        chart.dots([k for k, _ in points], [e for _, e in points], 'dot')
    levels = ', '.join(f'{k} = {g[0].condition["noise"]}' for k, g in enumerate(conditions, 1))
    text = (
        f'Torque error on hold-out [%], one line per method ({", ".join(methods)}); noise: '
        f'{levels}'
    )
    return f'<figure>{chart}<figcaption>{escape(text)}</figcaption></figure>'


def _figure(chart: Chart, text: str, groups: Sequence[Group]) -> str:
    names = ', '.join(f'{k} = {g.method}' for k, g in enumerate(groups, start=1))
    return f'<figure>{chart}<figcaption>{escape(f"{text}; {names}")}</figcaption></figure>'
