"""Results of several methods or recordings side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from robot_id.exceptions import DataError
from robot_id.extras import optional
from robot_id.json_numbers import finite_or_none
from robot_id.methods.result import Result
from robot_id.plain_table import html_table, number, text_table

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
# Standard deviations beyond which two estimates differ by more than chance.
FAR = 3.0


@dataclass(frozen=True, repr=False)
class Comparison:
    """
    Several results over the union of their parameters.

    :param labels: (m,) one short name for each result.
    :param results: (m,) the results.
    :param names: (b,) parameters, in the order in which they first appear.
    :param values: (m, b) estimates, NaN where a result does not have the parameter.
    :param std: (m, b) standard deviations.
    """

    labels: tuple[str, ...]
    results: tuple[Result, ...]
    names: tuple[str, ...]
    values: Array
    std: Array

    def distances(self) -> Array:
        """(m, b) |difference to the first result| in units of both deviations together."""
        with np.errstate(divide='ignore', invalid='ignore'):
            apart = np.abs(self.values - self.values[0]) / np.hypot(self.std, self.std[0])
        return np.where(self.values == self.values[0], 0.0, apart)

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return heads and rows: value and percent of each, distance from the first."""
        heads, apart = ['name', 'unit'], self.distances()
        for k, label in enumerate(self.labels):
            heads += [label, 'std %'] + (['apart'] if k else [])
        rows = []
        for i, name in enumerate(self.names):
            cells = [name, self.units[i]]
            for k in range(len(self.labels)):
                value, std = self.values[k, i], self.std[k, i]
                percent = 100.0 * std / abs(value) if value else np.inf
                cells += [number(value, 4), number(percent, 2)]
                if k:
                    far = apart[k, i]
                    cells.append(f'{number(far, 2)}{" !" if far > FAR else ""}')
            rows.append(cells)
        return heads, rows

    @property
    def units(self) -> tuple[str, ...]:
        """(b,) units of the parameters, '' where no result knows it."""
        known = {
            name: unit
            for result in self.results
            for name, unit in zip(result.names, result.units)
            if unit
        }
        return tuple(known.get(name, '') for name in self.names)

    def __repr__(self) -> str:
        return text_table(*self.cells(), left=2)

    def _repr_html_(self) -> str:
        return html_table(*self.cells(), left=2)

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas data frame: value, std and apart of each result, by parameter."""
        frames = optional('pandas')
        found: pandas.DataFrame = frames.concat(
            {
                label: frames.DataFrame(
                    {'value': value, 'std': std, 'apart': apart},
                    index=frames.Index(self.names, name='name'),
                )
                for label, value, std, apart in zip(
                    self.labels, self.values, self.std, self.distances()
                )
            },
            axis=1,
        )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        apart = self.distances()
        return {
            'schema': 1,
            'results': [
                {
                    'label': label,
                    'method': result.method,
                    'relative_error_percent': finite_or_none(result.relative_error_percent),
                    'condition_number': finite_or_none(result.condition_number),
                    'iterations': result.iterations,
                    'simulations': result.simulations,
                    'elapsed_s': finite_or_none(result.elapsed_s),
                    'converged': result.converged,
                    'parameters': {
                        name: {
                            'value': finite_or_none(self.values[k, i]),
                            'std': finite_or_none(self.std[k, i]),
                            'deviations_from_first': finite_or_none(apart[k, i]),
                        }
                        for i, name in enumerate(self.names)
                        if np.isfinite(self.values[k, i])
                    },
                }
                for k, (label, result) in enumerate(zip(self.labels, self.results))
            ],
        }


def side_by_side(
    results: Sequence[Result], files: Sequence[str | Path], named: bool = False
) -> Comparison:
    """
    Align results of one robot; labelled by the method if all methods differ.

    :param files: where they come from.
    :param named: these are labels that a user has given.
    """
    if len(results) < 2:
        raise DataError(
            f'{", ".join(map(str, files)) or "compare"}: name at least two results to compare',
            key='results',
            value=len(results),
        )
    robots = sorted({result.robot for result in results})
    if len(robots) > 1:
        raise DataError(f'results of different robots cannot be compared: {", ".join(robots)}')
    names = tuple(dict.fromkeys(name for result in results for name in result.names))
    values = np.full((len(results), len(names)), np.nan)
    std = values.copy()
    for k, result in enumerate(results):
        places = [names.index(name) for name in result.names]
        values[k, places], std[k, places] = result.values, result.std
    labels = tuple(map(str, files)) if named else _labels(results, files)
    return Comparison(labels, tuple(results), names, values, std)


def _labels(results: Sequence[Result], files: Sequence[str | Path]) -> tuple[str, ...]:
    methods = [result.method for result in results]
    stems = [Path(file).stem for file in files]
    for candidates in (methods, stems):
        if len(set(candidates)) == len(candidates):
            return tuple(candidates)
    return tuple(map(str, files))


def comparison_table(comparison: Comparison) -> Table:
    """
    Return values and percent deviations, and how far each one is from the first.

    A difference beyond 3 standard deviations is marked with `!`.
    """
    table = Table(title=f'{comparison.results[0].robot}: {len(comparison.names)} parameters')
    heads, rows = comparison.cells()
    for k, head in enumerate(heads):
        style = 'dim' if head == 'std %' else None
        table.add_column(head, justify='left' if k < 2 else 'right', style=style)
    for cells in rows:
        table.add_row(*cells)
    table.add_section()
    for title, figures in _figures(comparison):
        cells = [title, '']
        for k, text in enumerate(figures):
            cells += [text, ''] + ([''] if k else [])
        table.add_row(*cells)
    return table


def _figures(comparison: Comparison) -> list[tuple[str, list[str]]]:
    rows = [
        ('training error %', [number(r.relative_error_percent, 4) for r in comparison.results]),
        ('condition', [number(r.condition_number, 4) for r in comparison.results]),
        ('iterations', [str(r.iterations) for r in comparison.results]),
        ('simulations', [str(r.simulations) for r in comparison.results]),
        ('seconds', [number(r.elapsed_s, 3) for r in comparison.results]),
    ]
    if any(r.verdict for r in comparison.results):
        rows.append(
            ('verdict', [(r.verdict or '-').replace('_', ' ') for r in comparison.results])
        )
    if not all(r.converged for r in comparison.results):
        rows.append(('converged', ['yes' if r.converged else 'NO' for r in comparison.results]))
    return rows
