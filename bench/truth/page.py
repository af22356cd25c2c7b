"""The tables of coverage as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.truth.figures import Figures, figures

HEAD = (
    '| method | experiments | parameters | covered % | bias, median | bias, worst | '
    'worst less chance | above 0.3 | deviation, median | deviation, least | deviation, most | '
    'error %, median | CPU s |'
)
BEGIN, END = '<!-- tables begin -->', '<!-- tables end -->'
WORST = 3


def tables(rows: Iterable[dict[str, Any]]) -> str:
    """Return one table for each robot, and its worst parameters."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        found.setdefault(row['robot'], {}).setdefault(row['method'], []).append(row)
    parts = []
    for robot, methods in found.items():
        known = {method: figures(list(part)) for method, part in methods.items()}
        lines = [f'## {robot}', '', HEAD, '|---|' + '---:|' * (HEAD.count('|') - 2)]
        lines += [_line(method, f) for method, f in known.items()]
        lines += ['', 'Least covered parameters (covered %, bias, deviation):', '']
        lines += [f'- {method}: {_worst(f)}' for method, f in known.items() if f.names]
        parts.append('\n'.join(lines))
    return '\n\n'.join(parts) + '\n'


def write(page: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Put the tables between the marks of a page; what stands around them stays."""
    text = page.read_text() if page.exists() else f'# Truth\n\n{BEGIN}\n{END}\n'
    before, rest = text.split(BEGIN)
    page.write_text(f'{before}{BEGIN}\n\n{tables(rows)}\n{END}{rest.split(END)[1]}')


def _line(method: str, f: Figures) -> str:
    failed = f' ({f.failed} failed)' if f.failed else ''
    if not f.names:
        return f'| {method} | {f.experiments}{failed} | 0 |' + ' - |' * (HEAD.count('|') - 4)
    cells = [
        f'{f.experiments}{failed}',
        str(len(f.names)),
        f'{100.0 * f.coverage:.1f}',
        *(f'{v:.2f}' for v in (np.median(f.bias), f.bias.max(), f.worst_bias)),
        str(f.biased),
        *(f'{v:.2f}' for v in (np.median(f.deviation), f.deviation.min(), f.deviation.max())),
        f'{np.median(f.error):.3g}',
        f'{f.seconds:.2g}',
    ]
    return f'| {method} | ' + ' | '.join(cells) + ' |'


def _worst(f: Figures) -> str:
    order = np.argsort(f.covered)[:WORST]
    return ', '.join(
        f'{f.names[k]} ({100 * f.covered[k]:.0f}, {f.bias[k]:.2g}, {f.deviation[k]:.2g})'
        for k in order
    )
