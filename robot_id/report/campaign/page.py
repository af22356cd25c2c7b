"""A campaign as one HTML page."""

from __future__ import annotations

import json
from html import escape
from importlib import resources

from robot_id.experiment.campaign.summary import Group, Summary
from robot_id.report.campaign.advice import advice
from robot_id.report.campaign.columns import HEADS, LEGEND, cells
from robot_id.report.campaign.pictures import coverage_picture, noise_picture, time_picture
from robot_id.report.html import markup


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
