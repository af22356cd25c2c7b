"""The tables of a campaign: columns in texts, one condition on the terminal, all as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from robot_id.report.html.markup import number
from robot_id.studies.campaign.report.advice import advice
from robot_id.studies.campaign.summary import Group, Share, Summary
from robot_id.texts import markdown

HEADS = (
    'method', 'runs', 'success %', 'parameters %', 'torque %', 'torque 90 %', 'bias',
    'scatter', 'x bound', 'in 68 %', 'in 95 %', 'iterations', 'ms',
)  # fmt: skip
LEGEND = (
    'success: runs that converged, which alone count in the other columns; parameters: median of '
    '||error|| / ||truth||; torque: median error on a motion without noise that no fit saw, and '
    'the value that nine in ten runs stay below; bias and scatter: mean and spread of the errors '
    'in reported deviations (0 and 1 are honest); x bound: rms error in units of the Cramer-Rao '
    'bound of the closed loop; in 68 and 95 %: how often the truth is within the reported '
    'interval. In brackets the 95 % interval of a share. ms: median of the '
    'estimation.'
)


def cells(group: Group) -> list[str]:
    """Return one line of the table."""
    return [
        group.method,
        str(group.runs),
        percent(group.success),
        number(group.parameter_error, 3),
        number(group.torque_error, 3),
        number(group.torque_error_90, 3),
        number(group.bias, 2),
        number(group.scatter, 2),
        number(group.bound_ratio, 3),
        percent(group.coverage_68),
        percent(group.coverage_95),
        number(group.iterations, 3),
        number(1e3 * group.seconds, 3),
    ]


def percent(share: Share) -> str:
    """Return a share with its interval, in percent."""
    if share.value != share.value:
        return '–'
    return f'{100 * share.value:.0f} ({100 * share.low:.0f}–{100 * share.high:.0f})'


def to_table(groups: Sequence[Group]) -> Table:
    """Return the table of one condition, one line per method."""
    table = Table(title=groups[0].title, title_justify='left')
    for k, head in enumerate(HEADS):
        table.add_column(head, justify='right' if k else 'left')
    for group in groups:
        table.add_row(*cells(group))
    return table


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
