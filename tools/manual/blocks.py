"""
The blocks of a page that are written or run.

`<!-- run -->` before a block of `sh` or `python`: it is run; `<!-- run: exit 1 -->`: and must end
so. `<!-- file: NAME -->`: the block becomes that file. `<!-- output -->` before a block of `text`:
what the block before it prints; `head N` and `tail N` keep a part of it, and every `...` stands
for anything. `<!-- needs: run.csv r.json -->`: a recording of the SCARA and its result are there.
In the README every block of `sh` is run unless `<!-- not run -->` stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r'^(?:<!-- (?P<what>not run|[a-z]+)(?:: (?P<detail>[^>]*?))? -->\n)?'
    r'```(?P<kind>\w*)\n(?P<text>.*?)^```',
    re.M | re.S,
)
NEEDS = re.compile(r'^<!-- needs: (.*?) -->$', re.M)


@dataclass(frozen=True)
class Block:
    """
    One block with its mark.

    :param what: `file`, `run` or `output`.
    :param detail: what follows the colon of the mark.
    :param kind: the language of the block.
    :param span: place of the text in the page.
    """

    what: str
    detail: str
    kind: str
    text: str
    span: tuple[int, int]

    @property
    def exit_code(self) -> int:
        """The code with which a run must end."""
        words = self.detail.split()
        return int(words[1]) if words[:1] == ['exit'] else 0


def blocks_of(page: Path, text: str | None = None) -> Iterator[Block]:
    """Yield the marked blocks of a page in their order."""
    front_door = page == ROOT / 'README.md'
    for found in BLOCK.finditer(page.read_text() if text is None else text):
        what = found['what'] or ('run' if front_door and found['kind'] == 'sh' else '')
        if what in ('file', 'run', 'output'):
            span = found.span('text')
            yield Block(what, found['detail'] or '', found['kind'], found['text'], span)


def needs_of(page: Path) -> list[str]:
    """Return the files that a page expects in its folder."""
    return [name for line in NEEDS.findall(page.read_text()) for name in line.split()]
