"""A page as a script: its commands in order, the terminals they run in, what they print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r'^```(sh|text)\n(.*?)^```$', re.M | re.S)
_TERMINAL = re.compile(r'# (\w+ terminal)(: Ctrl-C)?\n?')
_DECIMAL = re.compile(r'-?\d+\.\d+(?:e[-+]?\d+)?')


@dataclass
class Step:
    """
    A command of a page.

    :param command: '' to end what runs in the terminal.
    :param terminal: whose command stays, '' for one that ends by itself.
    :param printed: what the page says it prints.
    """

    command: str
    terminal: str = ''
    printed: str = ''


def steps(page: Path) -> list[Step]:
    """Return the commands of a page; several in a block stand on lines of their own."""
    found: list[Step] = []
    for kind, text in _BLOCK.findall(page.read_text()):
        if kind == 'text':
            found[-1].printed = text
            continue
        marks = list(_TERMINAL.finditer(text))
        rest = _TERMINAL.sub('', text).strip()
        found += [Step('', mark[1]) for mark in marks if mark[2]]
        if marks and rest:
            found.append(Step(rest, marks[0][1]))
        elif rest.startswith('ros2'):
            found += [Step(line) for line in rest.splitlines()]
        elif rest:
            found.append(Step(rest))
    return found


def prints(printed: str, output: str) -> bool:
    """Whether an output holds what a page shows; figures with a point may be others."""
    printed = '\n'.join(line.strip() for line in printed.splitlines())
    pattern = '.*?'.join(
        r'-?(?:\d+\.\d+(?:e[-+]?\d+)?|nan)'.join(re.escape(text) for text in _DECIMAL.split(part))
        for part in re.split(r'\s*\.\.\.\s*', printed.strip())
    )
    lines = '\n'.join(line.strip() for line in output.splitlines())
    return re.search(pattern, lines, re.S) is not None
