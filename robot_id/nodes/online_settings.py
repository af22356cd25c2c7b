"""Parameters of the node `online_identifier`, and the estimator that they describe."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.methods.recursive.identifier import METHODS, OnlineIdentifier
from robot_id.methods.recursive.settings import RUNNING_ROBOT, OnlineSettings
from robot_id.robot import Robot
from robot_id.ros.option_rows import rows_of, values_of
from robot_id.ros.parameter_table import MAPPING, ROBOT, Row

Array = NDArray[np.float64]
# The parameter that an option is called in the node.
NAMES = {'every': 'decimation'}

TABLE = (
    ROBOT,
    MAPPING,
    Row('method', 'rls', 'rls: recursive least squares; riv: instruments from the reference; '
        'integral: energy.', choices=METHODS),
    Row('rate_hz', 0.0, 'Rate of the joint states [Hz]; 0: learned from their stamps.', 0.0, 1e5),
    *rows_of(RUNNING_ROBOT, NAMES),
    Row('publish_period_s', 0.5, 'Time between two publications of the parameters [s].',
        0.02, 60.0),
)  # fmt: skip


def make_identifier(
    robot: Robot, settings: Any, rate_hz: float, start: Array | None, nominal: Array | None
) -> OnlineIdentifier:
    """
    Return the estimator that the parameters describe.

    :param start: (b,) values to begin with; zeros when None.
    :param nominal: (b,) values to take the sizes of the parameters from; supervision needs them.
    """
    options = OnlineSettings(**values_of(OnlineSettings, settings, NAMES))
    return options.for_running_robot(robot, rate_hz, settings['method'], start, nominal)
