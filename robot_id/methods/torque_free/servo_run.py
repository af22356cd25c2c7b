"""A recording, or a piece of it, as the servo loop takes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.dynamics.simulation.servo.loop import Inputs
from robot_id.exceptions import DataError

Array = NDArray[np.float64]
# A state is that of a parabola through this many seconds, and so many samples at least.
AROUND, FEWEST = 0.06, 5
# A piece has so many samples at least.
SHORTEST = 10
# Copper's resistance grows by this share per degree, from this temperature on, degC.
COPPER, WARM = 0.0039, 25.0
# A supply voltage is averaged over this many seconds: single readings alias with the switching.
SUPPLY_SECONDS = 0.2


@dataclass(frozen=True)
class ServoRun:
    """
    A recording or a piece of it.

    :param inputs: commands and what is recorded of the drive.
    :param measured: (N, n) positions of the encoders.
    :param position: (n,) first position; velocity (n,) first velocity.
    :param recording: number of the recording.
    """

    inputs: Inputs
    measured: Array
    position: Array
    velocity: Array
    recording: int = 0

    def piece(self, first: int, last: int) -> ServoRun:
        """Return the samples from the first on and before the last, with all the commands."""
        rows = slice(first, last)
        inputs = self.inputs
        cut = inputs._replace(
            gain=inputs.gain[rows], supply=inputs.supply[rows], warmth=inputs.warmth[rows],
            enabled=inputs.enabled[rows], ahead=inputs.ahead + first,
        )  # fmt: skip
        q, dq = state_at(self.measured, inputs.step, first)
        return replace(self, inputs=cut, measured=self.measured[rows], position=q, velocity=dq)

    def pieces(self, seconds: float) -> list[ServoRun]:
        """Return pieces of equal length, about as many seconds long."""
        count = int(len(self.measured) // max(seconds / self.inputs.step, SHORTEST))
        if count < 2:
            return [self]
        borders = np.linspace(0, len(self.measured), count + 1).astype(int)
        return [self.piece(int(a), int(b)) for a, b in pairwise(borders)]


def servo_runs(dataset: Dataset, longest_step: float, held: bool) -> list[ServoRun]:
    """
    Return the runs of a data set as the loop takes them.

    :param longest_step: seconds of a simulation step at most.
    """
    return [
        servo_run(run, longest_step, held, dataset.source, number)
        for number, run in enumerate(dataset.runs)
    ]


def servo_run(
    run: Run, longest_step: float, held: bool, source: str = '', number: int = 0
) -> ServoRun:
    """Return one run as the loop takes it."""
    if run.reference_position is None:
        raise DataError(
            f'{source or "recording"}: no commanded positions: name them as '
            "'reference_position' in the mapping"
        )
    ones = np.ones_like(run.position)
    inputs = Inputs(
        _floats(run.reference_position),
        _floats(ones if run.gain is None else run.gain),
        _floats(ones if run.supply is None else _averaged(run.supply, run.step)),
        _floats(ones if run.temperature is None else 1.0 + COPPER * (run.temperature - WARM)),
        _floats(ones if run.enabled is None else run.enabled),
        run.step,
        max(int(np.ceil(run.step / longest_step - 1e-9)), 1),
        held,
    )
    measured = _floats(run.position)
    return ServoRun(inputs, measured, *state_at(measured, run.step, 0), number)


def state_at(measured: Array, step: float, at: int) -> tuple[Array, Array]:
    """Return position and velocity (n,) at a sample, of a parabola through those around it."""
    count = min(max(round(AROUND / step) + 1, FEWEST), len(measured))
    first = min(max(at - count // 2, 0), len(measured) - count)
    around = measured[first : first + count]
    t = step * (np.arange(first, first + count) - at)
    W = np.stack([np.ones(count), t, t * t], axis=1)
    q, dq, _ = np.linalg.lstsq(W, around, rcond=None)[0]
    # An encoder that shows the same all the time stands still.
    still = np.ptp(around, axis=0) == 0.0
    return np.where(still, measured[at], q), np.where(still, 0.0, dq)


def _averaged(values: Array, step: float) -> Array:
    width = max(round(SUPPLY_SECONDS / step), 1)
    return np.asarray(scipy.ndimage.uniform_filter1d(values, width, axis=0, mode='nearest'))


def _floats(x: Array) -> Array:
    return np.require(x, float, ['C', 'W'])
