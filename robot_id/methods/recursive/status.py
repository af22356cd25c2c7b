"""The status of an on-line estimator, and how well its estimate explains the last samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data import Dataset, Run
from robot_id.data.signals.processing import Processing, resolve
from robot_id.exceptions import RobotIdError
from robot_id.json_numbers import finite_or_none
from robot_id.plain_table import number, text_table
from robot_id.regression.rows.prediction import predict
from robot_id.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ParameterStatus:
    """
    One parameter.

    :param name: its name.
    :param value: current estimate, SI units.
    :param std: standard deviation, NaN while it is not known on its own.
    :param state: 'live', 'partial' (moves only in combination with others) or 'frozen'.
    :param reason: why it is not live, empty when it is.
    """

    name: str
    value: float
    std: float
    state: str
    reason: str


@dataclass(frozen=True, repr=False)
class Status:
    """
    State of an on-line estimator.

    :param parameters: one entry per parameter.
    :param samples: samples taken in.
    :param rejected: samples refused (not finite, wrong shape ...), with the last reason.
    :param rejected_reason: why the last one was refused.
    :param rows: equations that count now (with forgetting, the effective number).
    :param noise_std: standard deviation of the equation error in units of the given noise.
    :param condition: condition number of the information matrix in use, NaN when not known.
    :param smallest: smallest singular value of the equations in use, parameters in their sizes
        and equations in their noise: near zero when a combination of parameters is not excited.
    :param spread: trace of the covariance of the directions that move, in the same units: the sum
        of the squared relative deviations; NaN while nothing moves.
    :param suspended: True while no parameter moves at all.
    """

    parameters: tuple[ParameterStatus, ...]
    samples: int
    rejected: int
    rejected_reason: str
    rows: float
    noise_std: float
    condition: float
    smallest: float
    spread: float
    suspended: bool

    def __repr__(self) -> str:
        rows = [
            (one.name, number(one.value), number(one.std, 2), one.state, one.reason)
            for one in self.parameters
        ]
        head = f'{self.samples} samples, {self.rejected} refused'
        if self.rejected_reason:
            head += f' ({self.rejected_reason})'
        return f'{head}\n{text_table(("name", "value", "std", "state", "reason"), rows)}'

    def names(self, state: str) -> tuple[str, ...]:
        """Return the names of the parameters in a state."""
        return tuple(p.name for p in self.parameters if p.state == state)

    @property
    def live(self) -> tuple[str, ...]:
        """Names of the parameters that follow the data."""
        return self.names('live')

    @property
    def frozen(self) -> tuple[str, ...]:
        """Names of the parameters that hold their value."""
        return self.names('frozen')

    @property
    def partial(self) -> tuple[str, ...]:
        """Names of the parameters that move only in combination."""
        return self.names('partial')

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable form (NaN becomes None)."""
        return {
            'parameters': [
                {
                    'name': p.name,
                    'value': finite_or_none(p.value),
                    'std': finite_or_none(p.std),
                    'state': p.state,
                    'reason': p.reason,
                }
                for p in self.parameters
            ],
            'samples': self.samples,
            'rejected': self.rejected,
            'rejected_reason': self.rejected_reason,
            'rows': finite_or_none(self.rows),
            'noise_std': finite_or_none(self.noise_std),
            'condition': finite_or_none(self.condition),
            'smallest': finite_or_none(self.smallest),
            'spread': finite_or_none(self.spread),
            'suspended': self.suspended,
        }


def recent_error(
    robot: Robot,
    rate_hz: float,
    chi: Array,
    position: Array,
    torque: Array,
    coulomb_slope: float | None = None,
) -> float:
    """
    Return 100 ||Y - W chi|| / ||Y|| of the last samples [%], NaN if they do not determine it.

    :param chi: (b,) the estimate.
    :param position: (N, n) of samples that follow each other at the rate; torque likewise.
    """
    time = np.arange(len(position)) / rate_hz
    try:
        dataset = Dataset(robot.joint_names, (Run(time, position, torque),), 'recent samples', ())
        loops = robot.description.loops
        bandwidth = robot.loop().bandwidth if 'default' in loops else None
        processing = resolve(Processing(), rate_hz, bandwidth)
        found = predict(robot, chi, dataset, processing, coulomb_slope)
        return float(found.relative_error_percent)
    except (RobotIdError, ValueError):
        return math.nan
