"""What a reproduced table consists of: sections with columns and rows, and honest notes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table

from robot_id.report.tables import number

Cell = str | float | None


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
    """

    name: str
    source: str
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            'source': self.source,
            'sections': [
                {
                    'title': section.title,
                    'columns': list(section.columns),
                    'rows': [_plain(row) for row in section.rows],
                }
                for section in self.sections
            ],
            'notes': list(self.notes),
        }


def _plain(row: Sequence[Cell]) -> list[Cell]:
    """Return a row that JSON can hold: numbers that are not finite become null."""
    return [None if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in row]
