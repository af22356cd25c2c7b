"""
A reproduced table: sections with columns and rows, claims, notes, and all tables as one page.

`printed` reads the figures of the papers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from rich.table import Table

from robot_id.json_numbers import finite
from robot_id.plain_table import number
from robot_id.report.html.provenance import versions
from robot_id.share import share_directory

Cell = str | float | None
Ground = Literal['simulation', 'measurements']
HEAD = """# The papers, rebuilt

Written by `robot-id reproduce --markdown`; every figure of ours is computed anew by that command,
the figures of the papers stand in `config/papers/figures.yaml` and beside the code. "Reproduced in
simulation" means that the paper's own recordings are not public and the claim was tested on a
simulated robot whose true parameters are known.
"""


@cache
def _all() -> dict[str, Any]:
    return yaml.safe_load((share_directory() / 'config' / 'papers' / 'figures.yaml').read_text())


def printed(paper: str) -> dict[str, Any]:
    """Return the printed figures of one paper."""
    return _all()[paper]


def measured(name: str) -> Path | None:
    """Return a folder of measurements beside the repository, None where it is not."""
    beside = Path(__file__).resolve().parents[3].parent / 'shared'
    folder = Path(os.environ.get('ROBOT_ID_SHARED', beside)) / 'data' / name
    return folder if folder.is_dir() else None


@dataclass(frozen=True)
class Claim:
    """
    One claim.

    :param text: what the paper says.
    :param holds: whether our figures agree.
    :param evidence: these figures, and why when they do not.
    :param ground: their basis.
    """

    text: str
    holds: bool
    evidence: str
    ground: Ground = 'simulation'

    def __post_init__(self) -> None:
        # A comparison of arrays gives a bool of numpy, which JSON does not know.
        object.__setattr__(self, 'holds', bool(self.holds))

    @property
    def verdict(self) -> str:
        """The judgement in words."""
        if not self.holds:
            return 'not reproduced'
        return 'reproduced' if self.ground == 'measurements' else 'reproduced in simulation'


@dataclass(frozen=True)
class Section:
    """
    One table.

    :param title: what it shows.
    :param columns: headers; the first one names the rows.
    :param rows: one cell for each column; None where there is nothing.
    :param digits: significant digits of numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    digits: int = 4

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f'{self.title}: {len(row)} cells for {len(self.columns)} columns')

    def to_table(self) -> Table:
        """Return the section for the terminal."""
        table = Table(title=self.title)
        for k, header in enumerate(self.columns):
            table.add_column(header, justify='left' if k == 0 else 'right')
        for row in self.rows:
            table.add_row(*(self._text(cell) for cell in row))
        return table

    def to_markdown(self) -> str:
        """Return the section as a table of Markdown under its title."""
        lines = [f'### {self.title}', '', _line(self.columns)]
        lines.append(_line(['---'] + ['---:'] * (len(self.columns) - 1)))
        lines += [_line([self._text(cell) for cell in row]) for row in self.rows]
        return '\n'.join(lines) + '\n'

    def _text(self, cell: Cell) -> str:
        if cell is None:
            return '-'
        return cell if isinstance(cell, str) else number(float(cell), self.digits)


@dataclass(frozen=True)
class Comparison:
    """
    A paper's result and ours.

    :param name: of the table, as given to `robot-id reproduce`.
    :param source: the paper.
    :param sections: the tables.
    :param notes: what differs from the paper and why.
    :param claims: what the paper says, with our judgement.
    """

    name: str
    source: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = field(default=())
    claims: tuple[Claim, ...] = field(default=())

    def claims_table(self) -> Table:
        """Return the claims for the terminal."""
        table = Table('claim', 'verdict', 'evidence', title='claims', show_lines=True)
        for claim in self.claims:
            colour = 'green' if claim.holds else 'yellow'
            table.add_row(claim.text, f'[{colour}]{claim.verdict}[/]', claim.evidence)
        return table

    def to_markdown(self) -> str:
        """Return all of it as Markdown."""
        parts = [f'## {self.name}\n', f'{self.source}.\n']
        if self.claims:
            parts.append('| claim | verdict | evidence |\n|---|---|---|')
            parts += [_line([c.text, f'**{c.verdict}**', c.evidence]) for c in self.claims]
            parts.append('')
        parts += [section.to_markdown() for section in self.sections]
        parts += [f'- {note}' for note in self.notes]
        return '\n'.join(parts).rstrip() + '\n'

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            'source': self.source,
            'sections': [
                {
                    'title': section.title,
                    'columns': list(section.columns),
                    'rows': [finite(row) for row in section.rows],
                }
                for section in self.sections
            ],
            'notes': list(self.notes),
            'claims': [
                {
                    'claim': claim.text,
                    'verdict': claim.verdict,
                    'holds': claim.holds,
                    'evidence': claim.evidence,
                }
                for claim in self.claims
            ],
        }


def _line(cells: Sequence[str]) -> str:
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def to_markdown(comparisons: Iterable[Comparison], seconds: float) -> str:
    """Return the page; a summary of all claims comes first."""
    comparisons = list(comparisons)
    lines = ['| table | claim | verdict |', '|---|---|---|']
    for comparison in comparisons:
        anchor = f'[{comparison.name}](#{comparison.name})'
        for claim in comparison.claims:
            lines.append(f'| {anchor} | {claim.text} | {claim.verdict} |')
    known = ', '.join(f'{name} {version}' for name, version in versions().items())
    claims = [claim for comparison in comparisons for claim in comparison.claims]
    total = (
        f'{sum(c.holds for c in claims)} of {len(claims)} claims hold here. '
        f'{seconds:.0f} s with {known}.'
    )
    parts = [HEAD, total + '\n', '\n'.join(lines) + '\n']
    parts += [comparison.to_markdown() for comparison in comparisons]
    return '\n'.join(parts)
