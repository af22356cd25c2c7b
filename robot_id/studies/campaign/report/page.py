"""A campaign as one HTML page."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from importlib import resources

from robot_id.report.html import markup
from robot_id.report.html.svg import Chart
from robot_id.studies.campaign.report.advice import advice, front
from robot_id.studies.campaign.report.columns import HEADS, LEGEND, cells
from robot_id.studies.campaign.summary import Group, Summary


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


def to_html(summary: Summary) -> str:
    """Return the page: cards, advice, then each condition with its table and pictures."""
    failed = sum(n for g in summary.groups for n in g.failures.values())
    cards = [
        markup.card('runs', f'{summary.runs:,}'),
        markup.card('failed', f'{failed:,}', 'recorded with their reason', 'bad' * bool(failed)),
        markup.card('conditions', str(len(summary.conditions()))),
        markup.card('methods', str(len({g.method for g in summary.groups}))),
    ]
    parts = [
        markup.section('advice', 'Which method', markup.lines(advice(summary))),
        _noise(summary),
        *(
            markup.section(f'condition-{k}', groups[0].title, _condition(groups))
            for k, groups in enumerate(summary.conditions(), start=1)
        ),
    ]
    style = (resources.files('robot_id.report.html') / 'report.css').read_text('utf-8')
    title = f'Campaign {summary.name}'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><style>\n{style}</style></head>\n<body>'
        f'<header><h1>{escape(title)}</h1><div class="cards">{"".join(cards)}</div>'
        f'<p class="lead">{escape(LEGEND)}</p></header>\n<main>{"".join(parts)}</main>'
        '</body></html>\n'
    )


def _condition(groups: list[Group]) -> str:
    rows = [[escape(text) for text in cells(group)] for group in groups]
    failures = [
        f'{group.method}: {count} x {text}'
        for group in groups
        for text, count in group.failures.items()
    ]
    content = markup.table(HEADS, rows) + coverage_picture(groups) + time_picture(groups)
    return content + (markup.details('failures', markup.lines(failures)) if failures else '')


def _noise(summary: Summary) -> str:
    """Return the pictures of conditions that differ by their noise alone."""
    found: dict[str, list[list[Group]]] = {}
    for groups in summary.conditions():
        others = {k: v for k, v in groups[0].condition.items() if k != 'noise'}
        found.setdefault(json.dumps(others), []).append(groups)
    pictures = ''.join(
        f'<h3>{escape(json.loads(key)["robot"])}</h3>{noise_picture(conditions)}'
        for key, conditions in found.items()
        if len(conditions) > 1
    )
    return markup.section('noise', 'Error against noise', pictures) if pictures else ''
