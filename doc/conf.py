"""Settings of `make docs`: the pages of this folder and the docstrings of api.md."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = 'robot_id'
extensions = ['myst_parser', 'sphinx.ext.autodoc']
html_theme = 'alabaster'
html_title = 'robot_id'
# Headings get the anchors that forges give them, so one link works in both places.
myst_heading_anchors = 4
autodoc_typehints = 'none'
autodoc_member_order = 'bysource'


def setup(app: Any) -> None:
    """Show drawings in mermaid as their text."""
    app.add_lexer('mermaid', TextLexer)
