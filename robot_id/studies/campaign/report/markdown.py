"""A campaign as Markdown."""

from __future__ import annotations

from robot_id.studies.campaign.report.advice import advice
from robot_id.studies.campaign.report.columns import HEADS, LEGEND, cells
from robot_id.studies.campaign.summary import Summary
from robot_id.texts import markdown


def to_markdown(summary: Summary) -> str:
    """Return the text of `report.md`: one table per condition, failures, and advice."""
    lines = [
        f'# {markdown(summary.name)}: {summary.runs} runs',
        '',
        LEGEND,
        '',
        '## Which method',
        '',
    ]
    lines += [f'- {markdown(line)}' for line in advice(summary)]
    for groups in summary.conditions():
        lines += [
            '',
            f'## {markdown(groups[0].title)}',
            '',
            _row(HEADS),
            _row(['---'] + ['---:'] * (len(HEADS) - 1)),
        ]
        lines += [_row(cells(group)) for group in groups]
        failures = [
            f'- {markdown(group.method)}: {count} x {markdown(text)}'
            for group in groups
            for text, count in group.failures.items()
        ]
        lines += ['', *failures] if failures else []
    return '\n'.join(lines) + '\n'


def _row(texts: list[str] | tuple[str, ...]) -> str:
    return '| ' + ' | '.join(markdown(text) for text in texts) + ' |'
