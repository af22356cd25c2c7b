"""Recursive instrumental variables on recorded data, as it would run on-line (paper 002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import resolve
from robot_id.methods.recursive.rls import Rls

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Riv(Rls):
    """
    Recursive instrumental variables; the instruments are the model functions of the reference.

    With the options of rls. Where the recording has no reference, the zero-phase filtered position
    stands in, and the result says so.
    """

    name: ClassVar[str] = 'riv'
    # The instruments share no noise with W.
    attenuated: ClassVar[bool] = False

    def _reference(self, run: Run) -> tuple[Array, Array, Array]:
        given = (run.reference_position, run.reference_velocity, run.reference_acceleration)
        if given[0] is not None and given[1] is not None and given[2] is not None:
            return given[0], given[1], given[2]
        return differentiate(run, resolve(self.processing, run.rate))

    def _warnings(self, dataset: Dataset) -> tuple[str, ...]:
        if all(run.reference_acceleration is not None for run in dataset.runs):
            return ()
        return ('no reference in the recording: the filtered position stands in as instrument',)
