"""Pieces of HTML: tables, cards, sections, with everything escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape


def number(value: float, digits: int = 4) -> str:
    """Return a number, a dash where there is none."""
    if not math.isfinite(value):
        return '–'
    if 10.0 ** (digits - 1) <= abs(value) < 1e6:
        return f'{value:,.0f}'
    return f'{value:.{digits}g}'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1, kind: str = ''
) -> str:
    """
    Return a table that scrolls sideways on a narrow screen.

    :param rows: cells that are HTML already.
    :param left: how many columns are texts (the others are numbers, to the right).
    """

    def cells(tag: str, texts: Sequence[str]) -> str:
        return ''.join(
            f'<{tag}{"" if k < left else " class=n"}>{text}</{tag}>'
            for k, text in enumerate(texts)
        )

    body = ''.join(f'<tr>{cells("td", row)}</tr>' for row in rows)
    name = f' class="{kind}"' if kind else ''
    return (
        f'<div class="scroll"><table{name}><thead><tr>{cells("th", heads)}</tr></thead>'
        f'<tbody>{body}</tbody></table></div>'
    )


def section(key: str, title: str, content: str, lead: str = '') -> str:
    """Return a section with a heading and an introduction."""
    text = f'<p class="lead">{lead}</p>' if lead else ''
    return f'<section id="{key}"><h2>{escape(title)}</h2>{text}{content}</section>'


def card(title: str, value: str, note: str = '', kind: str = '') -> str:
    """Return one key figure."""
    return (
        f'<div class="card {kind}"><span>{escape(title)}</span><b>{value}</b>'
        f'<small>{escape(note)}</small></div>'
    )


def lines(items: Iterable[str]) -> str:
    """Return a list, nothing when it is empty."""
    found = ''.join(f'<li>{escape(item)}</li>' for item in items)
    return f'<ul>{found}</ul>' if found else ''


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return names with their values."""
    return (
        '<dl>' + ''.join(f'<dt>{escape(k)}</dt><dd>{escape(v)}</dd>' for k, v in pairs) + '</dl>'
    )


def details(title: str, content: str) -> str:
    """Return a part that opens on demand."""
    return f'<details><summary>{escape(title)}</summary>{content}</details>'
