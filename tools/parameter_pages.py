"""
Write the parameters of every node into its page of doc/nodes, as the code declares them.

Usage: .venv/bin/python tools/parameter_pages.py
"""

from __future__ import annotations

import re
from pathlib import Path

from robot_id.nodes.tables import TABLES

PAGES = Path(__file__).resolve().parents[1] / 'doc/nodes'
HEAD = '| parameter | default | allowed | what it does |\n|---|---|---|---|\n'


def main() -> None:
    """Replace the table of each page."""
    for name, rows in TABLES.items():
        page = PAGES / f'{name}.md'
        table = HEAD + ''.join(f'{row.markdown()}\n' for row in rows)
        head, *rest = re.split(r'\| parameter \|(?:.*\n\|)+.*\n', page.read_text())
        if len(rest) != 1:
            raise SystemExit(f'{page}: {len(rest)} tables of parameters, expected 1')
        page.write_text(head + table + rest[0])


if __name__ == '__main__':
    main()
