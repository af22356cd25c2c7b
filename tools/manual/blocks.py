"""
The blocks of a page, each run or checked.

A block of `python` is run, in the order of its page, unless `<!-- not run: REASON -->` stands
before it: then its names are checked. `<!-- run -->` before a block of `sh`: it is run;
`<!-- run: exit 1 -->`: and must end so. In the README every block of `sh` is run unless it says
`not run`. The commands of every other block of `sh` are checked; `<!-- foreign: NAME ... -->`
before it names packages and nodes that others provide.
`<!-- file: NAME -->`: the block becomes that file. `<!-- output -->` before a block of `text`:
what the block before it prints; `head N` and `tail N` keep a part of it, and every `...` stands
for anything. `<!-- needs: run.csv r.json -->`: a recording of the SCARA and its result are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r'^(?P<margin>[ ]*)'
    r'(?:<!-- (?P<what>not run|run|file|output|foreign)(?:: (?P<detail>[^>]*?))? -->\n[ ]*)?'
    r'```(?P<kind>[^`\n]*)\n(?P<text>.*?)^[ ]*```[ ]*$',
    re.M | re.S,
)
NEEDS = re.compile(r'^<!-- needs: (.*?) -->$', re.M)
DONE = ('file', 'run', 'output')


@dataclass(frozen=True)
class Block:
    """
    One block with its mark.

    :param what: `file`, `run`, `output`, `not run`, `foreign` or ''.
    :param detail: what follows the colon of the mark.
    :param kind: the language of the block.
    :param text: without the indentation of a list.
    :param span: place of the text in the page.
    :param margin: its indentation there.
    """

    what: str
    detail: str
    kind: str
    text: str
    span: tuple[int, int]
    margin: str = ''

    @property
    def exit_code(self) -> int:
        """The code with which a run must end."""
        words = self.detail.split()
        return int(words[1]) if words[:1] == ['exit'] else 0


def blocks_of(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in their order."""
    runs = ('python', 'sh') if page == ROOT / 'README.md' else ('python',)
    for found in BLOCK.finditer(page.read_text()):
        what = found['what'] or ('run' if found['kind'] in runs else '')
        text = dedent(found['text'])
        place = found.span('text'), found['margin']
        yield Block(what, found['detail'] or '', found['kind'], text, *place)


def needs_of(page: Path) -> list[str]:
    """Return the files that a page expects in its folder."""
    return [name for line in NEEDS.findall(page.read_text()) for name in line.split()]
