"""The tables of the study of commissioning: mistakes, and models that are handed over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from commissioning.hand_over import Phase
from commissioning.rows import NONE, Row

COMMISSIONING, HAND_OVER = 'commissioning', 'hand-over'


def commissioning_table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of the table, a row for each mistake and robot."""
    lines = [
        '| mistake | robot | way | torque | speed | motion | within | what is said |',
        '|---|---|---|---|---|---|---|---|',
    ]
    for row in rows:
        unit = '% of the range' if row.robot == 'emps' else 'deg'
        motion = 100.0 * row.motion if row.robot == 'emps' else 360.0 * row.motion
        said = row.named if row.named else ('-' if row.mistake == NONE else 'nothing')
        lines.append(
            f'| {row.mistake} | {row.robot} | {row.way} | {100 * row.torque:.1f} % | '
            f'{100 * row.speed:.1f} % | {motion:.2g} {unit} | '
            f'{"yes" if row.within else "**no**"} | {escaped(said)} |'
        )
    return lines


def hand_over_table(phases: Sequence[tuple[str, Phase]]) -> list[str]:
    """Return the lines of the table, a row for each experiment."""
    lines = [
        '| robot | what | longest interval | missed commands | largest tracking error | answers '
        '| last answer |',
        '|---|---|---|---|---|---|---|',
    ]
    for robot, phase in phases:
        answers = ', '.join(f'{n} with code {code}' for code, n in phase.codes.items()) or '-'
        lines.append(
            f'| {robot} | {phase.name} | {1e3 * phase.seen.gap_s:.0f} ms | {phase.missed} | '
            f'{phase.error.max():.2g} | {answers} | {1e3 * phase.answer_s:.0f} ms |'
        )
    return lines


def escaped(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace('|', '\\|')


def write(page: Path, name: str, lines: Sequence[str]) -> None:
    """Put lines between the marks of a table in a page."""
    begin, end = f'<!-- {name}: begin -->', f'<!-- {name}: end -->'
    head, found, rest = page.read_text().partition(begin)
    _, closed, tail = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{page} has no place for the table '{name}'")
    page.write_text('\n'.join([head + begin, '', *lines, '', end + tail]))
