"""On-line estimators on recorded data: from a Dataset to streams, and the estimate over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.exceptions import IdentificationError

Array = NDArray[np.float64]
POINTS = 200


class Track:
    """
    Keeps about 200 points of the history of an estimate.

    :param total: samples to come.
    """

    def __init__(self, total: int):
        self.every = max(total // POINTS, 1)
        self.samples: list[int] = []
        self.values: list[list[float]] = []

    def add(self, sample: int, values: Array) -> None:
        """Note the estimate after a sample."""
        self.samples.append(int(sample))
        self.values.append([float(v) for v in values])

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable form."""
        return {'samples': self.samples, 'parameters': self.values}


def thinned(run: Run, factor: int) -> tuple[Array, Array, float]:
    """
    Return positions, torques and step of one sample in `factor`.

    A position is a measurement and is taken as it is; all torques act until the next one, so each
    is held for its part of the interval.

    :return: (N, n) positions, (N, factor, n) torques, seconds between two positions.
    """
    count = len(run) // factor
    if count < 2:
        raise IdentificationError(
            f'{len(run)} samples at {run.rate:.4g} Hz leave {count} after decimation by '
            f'{factor}: raise highest_rate_hz'
        )
    torque = run.torque[: count * factor].reshape(count, factor, -1)
    return run.position[: count * factor : factor], torque, run.step * factor
