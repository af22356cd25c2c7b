"""A campaign as Markdown."""

from __future__ import annotations

from robot_id.experiment.campaign.summary import Summary
from robot_id.report.campaign.advice import advice
from robot_id.report.campaign.columns import HEADS, LEGEND, cells


def to_markdown(summary: Summary) -> str:
    """Return the text of `report.md`: one table per condition, failures, and advice."""
    lines = [f'# {summary.name}: {summary.runs} runs', '', LEGEND, '', '## Which method', '']
    lines += [f'- {line}' for line in advice(summary)]
    for groups in summary.conditions():
        lines += [
            '',
            f'## {groups[0].title}',
            '',
            _row(HEADS),
            _row(['---'] + ['---:'] * (len(HEADS) - 1)),
        ]
        lines += [_row(cells(group)) for group in groups]
        failures = [
            f'- {group.method}: {count} x {text}'
            for group in groups
            for text, count in group.failures.items()
        ]
        lines += ['', *failures] if failures else []
    return '\n'.join(lines) + '\n'


def _row(texts: list[str] | tuple[str, ...]) -> str:
    return '| ' + ' | '.join(text.replace('|', '\\|') for text in texts) + ' |'
