"""Pieces of HTML: tables, cards, sections, with everything escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources


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


def page(title: str, head: str, parts: Sequence[str], script: str = '') -> str:
    """
    Return a whole page that needs no other file.

    :param head: what stands above the sections, such as cards.
    :param parts: sections; empty ones are left out.
    :param script: what follows the sections.
    """
    parts = [part for part in parts if part]
    keys = re.findall(r'<section id="([^"]+)">', ''.join(parts))
    links = ''.join(f'<a href="#{key}">{key}</a>' for key in keys)
    style = (resources.files('robot_id.report.html') / 'report.css').read_text('utf-8')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><style>\n{style}</style></head>\n<body>'
        f'<header><h1>{escape(title)}</h1>{head}<nav>{links}</nav></header>\n'
        f'<main>{"".join(parts)}</main>\n{script}</body></html>\n'
    )


def cards(items: Iterable[str], warnings: Iterable[str] = ()) -> str:
    """Return key figures, and below them what looks wrong."""
    found = lines(warnings)
    box = f'<aside class="warnings">{found}</aside>' if found else ''
    return f'<div class="cards">{"".join(items)}</div>{box}'


def details(title: str, content: str) -> str:
    """Return a part that opens on demand."""
    return f'<details><summary>{escape(title)}</summary>{content}</details>'
