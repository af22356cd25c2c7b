"""
Write what commands print into the blocks of output of the manual.

Usage: .venv/bin/python -m tools.manual [PAGE.md ...]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from textwrap import indent

from tools.manual.blocks import ROOT, blocks_of
from tools.manual.output import same, shown
from tools.manual.run import prepare, run_page


def renew(page: Path) -> int:
    """Run a page and replace the outputs that have changed; return how many did."""
    text = page.read_text()
    changed = []
    with tempfile.TemporaryDirectory() as folder:
        for block, printed in run_page(page, prepare(Path(folder))):
            new = indent(shown(printed, block.detail), block.margin)
            reflowed = new != block.text and new.split() == block.text.split()
            if reflowed or not same(block.text, printed):
                changed.append((block.span, new))
    for (start, end), new in reversed(changed):
        text = text[:start] + new + text[end:]
    if changed:
        page.write_text(text)
    return len(changed)


def main() -> None:
    """Renew the named pages, or all."""
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    for page in pages or [ROOT / 'README.md', *sorted((ROOT / 'doc').rglob('*.md'))]:
        if any(block.what == 'output' for block in blocks_of(page)):
            print(f'{page.relative_to(ROOT)}: {renew(page)} outputs renewed', flush=True)


if __name__ == '__main__':
    main()
