"""No import cycles: neither at the top of files, nor inside functions, nor for types."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def import_graph(root: Path, package: str) -> dict[str, set[str]]:
    """Return module -> modules of the package that it imports, wherever in its text."""
    files = {}
    for path in sorted((root / package).rglob('*.py')):
        parts = path.relative_to(root).with_suffix('').parts
        files['.'.join(parts[:-1] if parts[-1] == '__init__' else parts)] = path
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        found = graph.setdefault(name, set())
        own = name if path.name == '__init__.py' else name.rpartition('.')[0]
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names} & files.keys()
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ''
                if node.level:
                    above = own.split('.')[: len(own.split('.')) - node.level + 1]
                    base = '.'.join([*above, *filter(None, [base])])
                for alias in node.names:
                    whole = f'{base}.{alias.name}'
                    found |= {whole if whole in files else base} & files.keys()
        found.discard(name)
    return graph


def test_there_is_no_cycle():
    graph = import_graph(ROOT, 'robot_id')
    assert sum(map(len, graph.values())) > 1000
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    'text',
    [
        'from p.a import x',
        'from p import a',
        'import p.a',
        'from . import a',
        'from .a import x',
        'def f():\n    import p.a',
        'from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.a import A',
    ],
)
def test_a_cycle_is_found_wherever_the_import_stands(tmp_path, text):
    (tmp_path / 'p').mkdir()
    (tmp_path / 'p/__init__.py').write_text('')
    (tmp_path / 'p/a.py').write_text('from p.b import y')
    (tmp_path / 'p/b.py').write_text(text)
    with pytest.raises(CycleError):
        TopologicalSorter(import_graph(tmp_path, 'p')).prepare()
