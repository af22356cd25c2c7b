"""Tables as plain text and as HTML, for what Python prints and what a notebook shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape


def number(value: float, digits: int = 5) -> str:
    """Return a number with significant digits, '-' where there is none."""
    return f'{value:.{digits}g}' if math.isfinite(value) else '-'


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """
    Return columns of equal width; nothing is cut.

    :param heads: (c,) titles.
    :param rows: of c cells each.
    :param left: so many columns are aligned to the left, the others to the right.
    """
    widths = [max(len(row[k]) for row in (heads, *rows)) for k in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        return '  '.join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths))
        ).rstrip()

    return '\n'.join([line(heads), *map(line, rows)])


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return the same as an HTML table."""

    def line(cells: Sequence[str], tag: str) -> str:
        return ''.join(
            f'<{tag} style="text-align:{"left" if k < left else "right"}">{escape(cell)}</{tag}>'
            for k, cell in enumerate(cells)
        )

    body = ''.join(f'<tr>{line(row, "td")}</tr>' for row in rows)
    return f'<table><thead><tr>{line(heads, "th")}</tr></thead><tbody>{body}</tbody></table>'


def html_lines(lines: Sequence[str]) -> str:
    """Return paragraphs."""
    return ''.join(f'<p>{escape(line)}</p>' for line in lines)
