"""The integral (energy) model on recorded data (paper 002, eq. 17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from robot_id.estimation.rls import Rls


@dataclass(frozen=True)
class Integral(Rls):
    """
    Recursive least squares on the energy balance: no acceleration, sensitive to slow disturbance.

    With the options of rls; one equation per sample for the whole robot, integrated from the start
    of each run. Filtering 'model' does not apply to it.
    """

    name: ClassVar[str] = 'integral'
