"""The integral (energy) model on recorded data (paper 002, eq. 17)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.methods.recursive.block_jackknife import BLOCKS
from robot_id.methods.recursive.filters import Washout
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.rls import Rls
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Shares of its past that an integral loses from one equation to the next.
LOSSES = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
# Of the time between two equations: after it nothing is left of an integral.
ALL_AT_ONCE = 0.01
# So many equations tell which one; of longer recordings the first.
ENOUGH = 20000
PART = 500


@dataclass(frozen=True)
class Integral(Rls):
    """
    Recursive least squares on the energy balance: no acceleration, sensitive to slow disturbance.

    With the options of rls; one equation per sample for the whole robot. Filtering 'model' does
    not apply to it. The noise of torques, integrated from the start, is an error that never ends,
    while that of velocities in the kinetic energy is gone with the next sample. Both sides of the
    equations pass a high-pass (`integral_s`), which makes that sum white: the one whose residual,
    the error of predicting an equation from those before, is least.

    :param integral_s: time constant of that high-pass, s; derived from the recording. One much
        longer than the recording means integrals from the start of each run.
    """

    name: ClassVar[str] = 'integral'

    def _identifier(
        self, robot: Robot, dataset: Dataset, processing: Processing, slope: float | None
    ) -> OnlineIdentifier:
        """Return the identifier with integrals that fade as the recording needs it."""
        first = super()._identifier(robot, dataset, processing, slope)
        if self.integral_s is not None:
            return first
        equations = self._equations(first, dataset, processing)
        step = first.decimation / first.rate_hz
        found = replace(self, integral_s=fading_s(equations, step))
        return super(Integral, found)._identifier(robot, dataset, processing, slope)

    def _equations(
        self, identifier: OnlineIdentifier, dataset: Dataset, processing: Processing
    ) -> list[Array]:
        """Return [rows work] (M, b + 1) of each run, integrated from its start."""
        found: list[list[Array]] = []
        for part in self._parts(dataset, processing, PART):
            if part.fresh:
                identifier.new_segment()
                found.append([])
            rows = identifier.equations(part.position, part.torque)
            found[-1] += [np.append(W, y) for W, y, _ in rows]
            if sum(map(len, found)) >= ENOUGH:
                break
        return [np.array(rows) for rows in found if rows]


def fading_s(equations: list[Array], step: float) -> float:
    """
    Return the time constant of the high-pass that leaves the least residual, seconds.

    Its first coefficient is one, so this is the prediction-error method for the noise
    (1 - z^-1) / (1 - a z^-1) e = white. No longer than a block of the deviations.

    :param equations: [rows work] (M, b + 1) of each run, integrated from its start.
    :param step: seconds between two equations.
    """
    total = sum(map(len, equations))
    least, found = np.inf, 0.0
    for loss in LOSSES:
        if loss < 1.0 and loss * total < BLOCKS:
            break
        constant = -step / np.log(1.0 - loss) if loss < 1.0 else ALL_AT_ONCE * step
        passed = [_passed(rows, Washout(step, constant)) for rows in equations]
        left = _residual(np.concatenate(passed)) if passed else np.inf
        if left < least:
            least, found = left, float(constant)
    return found


def _passed(rows: Array, washout: Washout) -> Array:
    """(M, b + 1) equations after the high-pass."""
    return np.array([washout(row) for row in rows])


def _residual(equations: Array) -> float:
    """Return the norm of what least squares leave of [rows work]; rank need not be full."""
    W, y = equations[:, :-1], equations[:, -1]
    return float(np.linalg.norm(y - W @ np.linalg.lstsq(W, y, rcond=None)[0]))
