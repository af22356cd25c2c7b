"""Samples as they were recorded, before any cleaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Raw:
    """
    Samples as they were recorded.

    :param source: file (and topic) for messages.
    :param time: (N,) seconds as stamped.
    :param channels: (N, n) each, by field name of Run.
    :param joint_names: of the n columns.
    :param first_row: number of the first row for messages, counted from 1.
    :param rows: (N,) numbers of the rows from 0 when some were taken out or moved.
    :param named: False where the joints are only numbered, in the order of the robot's.
    """

    source: str
    time: Array
    channels: Mapping[str, Array]
    joint_names: tuple[str, ...]
    first_row: int = 1
    rows: NDArray[np.intp] | None = None
    named: bool = True

    def place(self, index: int) -> str:
        """Return where a sample is, for messages."""
        row = index if self.rows is None else int(self.rows[index])
        return f'row {self.first_row + row} (t = {self.time[index]:.6g} s)'

    def take(self, index: NDArray[np.intp]) -> Raw:
        """Return some of the samples, which keep the numbers of their rows."""
        rows = index if self.rows is None else self.rows[index]
        channels = {name: values[index] for name, values in self.channels.items()}
        return replace(self, time=self.time[index], channels=channels, rows=rows)
