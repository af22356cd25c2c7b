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
    'sphinx_gallery.gen_gallery',
    'robot_id_tables',
]
# Runs examples/*.py that have changed and draws their pages (-D plot_gallery=0: without running).
sphinx_gallery_conf = {
    'examples_dirs': ['../examples'],
    'gallery_dirs': ['examples'],
    'filename_pattern': r'\.py$',
    'within_subsection_order': 'robot_id_tables.in_order_of_learning',
    'capture_repr': ('_repr_html_', '__repr__'),
    'ignore_repr_types': r'matplotlib\.|list|tuple',
    'download_all_examples': False,
    'show_signature': False,
    'write_computation_times': False,
    'min_reported_time': float('inf'),
    'reset_modules': ('matplotlib',),
}
html_theme = 'furo'
html_title = 'robot_id'
html_static_path = ['_static']
html_css_files = ['manual.css']
html_show_sphinx = False
html_show_copyright = False
exclude_patterns = ['_ext', '_static']
# Headings get the anchors that forges give them, so one link works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ['dollarmath', 'colon_fence']
autodoc_typehints = 'none'
autodoc_member_order = 'bysource'


def setup(app: Any) -> None:
    """Show drawings in mermaid as their text."""
    app.add_lexer('mermaid', TextLexer)
