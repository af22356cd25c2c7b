"""
Write the notebooks that are paired with examples, with what their cells print and draw.

Usage: .venv/bin/python -m tools.manual.notebooks

An example is a script in the percent format: `# %% [markdown]` before a text, `# %%` before code.
The notebook beside it has the same cells, so jupytext keeps the two in step.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

from tools.manual.blocks import ROOT

EXAMPLES = ROOT / 'examples'
PAIRED = ('first_identification', 'own_arrays_and_csv')
MARK = re.compile(r'^# %%(.*)\n', re.M)


@dataclass(frozen=True)
class Cell:
    """
    A cell of a notebook.

    :param kind: 'markdown' or 'code'.
    :param text: without marks of comments.
    """

    kind: str
    text: str


def cells_of(script: str) -> list[Cell]:
    """Return the cells of a script in the percent format."""
    parts = MARK.split(script)[1:]
    found = []
    for mark, text in zip(parts[::2], parts[1::2]):
        text = text.strip('\n')
        if mark.strip() != '[markdown]':
            found.append(Cell('code', text))
        elif text.startswith('"""'):
            found.append(Cell('markdown', ast.literal_eval(text).strip('\n')))
        else:
            found.append(Cell('markdown', re.sub(r'^# ?', '', text, flags=re.M)))
    return found


def run(cells: list[Cell]) -> list[list[dict[str, Any]]]:
    """Run the cells of code one after the other in one set of names; return their outputs."""
    mpl.use('Agg')
    from matplotlib import pyplot as plt

    # Those of the process that calls belong to no cell.
    plt.close('all')
    names: dict[str, Any] = {'__name__': '__main__'}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return [_outputs(cell, names) if cell.kind == 'code' else [] for cell in cells]
        finally:
            os.chdir(here)


def _outputs(cell: Cell, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(cell.text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, 'cell', 'exec'), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), 'cell', 'eval'), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({'name': 'stdout', 'output_type': 'stream', 'text': text})
    pictures = _pictures()
    found += pictures
    if value is not None and not pictures:
        data = {'text/plain': repr(value).splitlines(keepends=True)}
        if hasattr(value, '_repr_html_'):
            data['text/html'] = value._repr_html_().splitlines(keepends=True)
        found.append(
            {
                'data': data,
                'execution_count': None,
                'metadata': {},
                'output_type': 'execute_result',
            }
        )
    return found


def _pictures() -> list[dict[str, Any]]:
    """Return the figures that are open, and close them."""
    from matplotlib import pyplot as plt

    found = []
    for number in plt.get_fignums():
        stream = io.BytesIO()
        plt.figure(number).savefig(stream, format='png', dpi=60)
        data = {'image/png': base64.b64encode(stream.getvalue()).decode() + '\n'}
        found.append({'data': data, 'metadata': {}, 'output_type': 'display_data'})
    plt.close('all')
    return found


def notebook(cells: list[Cell], outputs: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Return a notebook of format 4.5, paired with its script."""
    made: list[dict[str, Any]] = []
    for k, (cell, found) in enumerate(zip(cells, outputs)):
        one: dict[str, Any] = {
            'cell_type': cell.kind,
            'id': f'cell-{k + 1}',
            'metadata': {},
            'source': cell.text.splitlines(keepends=True),
        }
        if cell.kind == 'code':
            one |= {'execution_count': None, 'outputs': found}
        made.append(one)
    return {
        'cells': made,
        'metadata': {
            'jupytext': {'formats': 'ipynb,py:percent'},
            'kernelspec': {'display_name': 'Python 3', 'language': 'python', 'name': 'python3'},
        },
        'nbformat': 4,
        'nbformat_minor': 5,
    }


def main() -> None:
    """Run and write all of them."""
    for name in PAIRED:
        cells = cells_of((EXAMPLES / f'{name}.py').read_text())
        text = json.dumps(notebook(cells, run(cells)), indent=1, ensure_ascii=False) + '\n'
        (EXAMPLES / f'{name}.ipynb').write_text(text)
        print(f'examples/{name}.ipynb')


if __name__ == '__main__':
    main()
