"""The parameters of a fit: values with units and standard deviations, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError, did_you_mean
from robot_id.extras import optional
from robot_id.methods.result import Result
from robot_id.plain_table import html_table, number, text_table

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]
HEADS = ('name', 'value', 'unit', 'std', 'std %', 'essential')


class Parameters(Mapping[str, float]):
    """
    The b base parameters, as a mapping from name to value, in their order.

    :param result: that holds them.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    @property
    def values_array(self) -> Array:
        """(b,) values, SI units on the joint side."""
        return self._result.values.copy()

    @property
    def names(self) -> tuple[str, ...]:
        """(b,) names."""
        return self._result.names

    @property
    def units(self) -> tuple[str, ...]:
        """(b,) units."""
        return self._result.units or ('',) * len(self.names)

    @property
    def std(self) -> Array:
        """(b,) standard deviations."""
        return self._result.std

    @property
    def percent_std(self) -> Array:
        """(b,) standard deviations in percent of the size of the value."""
        return self._result.percent_std

    @property
    def essential(self) -> NDArray[np.bool_]:
        """(b,) parameters whose 95 % interval does not hold zero."""
        flags = self._result.essential
        return np.ones(len(self.names), bool) if flags is None else flags.copy()

    @property
    def interval(self) -> Array:
        """(b, 2) 95 % intervals."""
        half = 1.96 * self.std
        return np.column_stack([self._result.values - half, self._result.values + half])

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise DataError(f"no parameter '{name}', {did_you_mean(name, self.names)}", key=name)
        return self._result[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas data frame, one row for each parameter."""
        frames = optional('pandas')
        low, high = self.interval.T
        columns = {
            'value': self._result.values,
            'unit': list(self.units),
            'std': self.std,
            'percent_std': self.percent_std,
            'low_95': low,
            'high_95': high,
            'essential': self.essential,
        }
        found: pandas.DataFrame = frames.DataFrame(columns, frames.Index(self.names, name='name'))
        return found

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table."""
        return [
            (name, number(value), unit, number(std, 2), number(percent, 3), 'yes' if ok else 'no')
            for name, value, unit, std, percent, ok in zip(
                self.names,
                self._result.values,
                self.units,
                self.std,
                self.percent_std,
                self.essential,
            )
        ]

    def __repr__(self) -> str:
        return text_table(HEADS, self.rows())

    def _repr_html_(self) -> str:
        return html_table(HEADS, self.rows())
