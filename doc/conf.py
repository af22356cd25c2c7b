"""Settings of `make docs`: the pages of this folder and the docstrings of the Python API."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'doc' / '_ext')]

project = 'robot_id'
extensions = [
    'myst_parser',
    'sphinx.ext.autodoc',
    'sphinx.ext.mathjax',
    # MathJax beside the pages: equations are typeset without a network.
    'sphinx-mathjax-offline',
    'robot_id_tables',
]
html_theme = 'furo'
html_title = 'robot_id'
html_static_path = ['_static']
html_css_files = ['manual.css']
html_show_sphinx = False
exclude_patterns = ['_ext', '_static']
# Headings get the anchors that forges give them, so one link works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ['dollarmath', 'colon_fence']
autodoc_typehints = 'none'
autodoc_member_order = 'bysource'


def setup(app: Any) -> None:
    """Show drawings in mermaid as their text."""
    app.add_lexer('mermaid', TextLexer)
