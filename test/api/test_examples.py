"""The examples run from the first line to the last; the notebooks are two of them."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.manual.notebooks import PAIRED, cells_of, run
from tools.manual.output import same

EXAMPLES = Path(__file__).resolve().parents[2] / 'examples'
SCRIPTS = sorted(EXAMPLES.glob('*.py'))
MOST_LINES = 60


def test_there_are_about_ten_and_each_is_short():
    assert len(SCRIPTS) >= 10
    for path in SCRIPTS:
        assert len(path.read_text().splitlines()) < MOST_LINES
        assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize(
    'path', [path for path in SCRIPTS if path.stem not in PAIRED], ids=lambda path: path.stem
)
def test_an_example_runs(path, tmp_path):
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=300, check=False,
        cwd=tmp_path, env={**os.environ, 'MPLBACKEND': 'Agg'},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize('name', PAIRED)
def test_a_notebook_is_its_example_and_shows_what_it_gives(name):
    cells = cells_of((EXAMPLES / f'{name}.py').read_text())
    stored = json.loads((EXAMPLES / f'{name}.ipynb').read_text())
    again = 'python -m tools.manual.notebooks'
    kept = [(one['cell_type'], ''.join(one['source'])) for one in stored['cells']]
    assert kept == [(cell.kind, cell.text) for cell in cells], again
    for one, outputs in zip(stored['cells'], run(cells)):
        shown = one.get('outputs', [])
        assert [each['output_type'] for each in shown] == [e['output_type'] for e in outputs]
        for each, output in zip(shown, outputs):
            for text in ('text', 'data'):
                if text in each and 'image/png' not in each[text]:
                    assert same(_text(each[text]), _text(output[text])), again


def _text(given):
    return ''.join(given['text/plain'] if isinstance(given, dict) else given)
