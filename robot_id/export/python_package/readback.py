"""The written module, run and compared with the model it was made from."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.exceptions import DataError
from robot_id.robot import Robot

Array = NDArray[np.float64]
STATES = 200
# Relative to the largest torque: rounding of two orders of the same operations.
TOLERANCE = 1e-10


def compare(robot: Robot, chi: Array, folder: str, package: str) -> str:
    """Return a line on how well torques and accelerations agree; raise where they do not."""
    module = runpy.run_path(str(Path(folder) / package / '__init__.py'))
    slope = float(robot.description.coulomb_slope)
    rng = np.random.default_rng(1)
    q = sample_configurations(robot, STATES)
    dq, ddq = rng.normal(size=(2, *q.shape))
    tau = dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope)
    found = module['inverse_dynamics'](q, dq, ddq)
    again = module['inverse_dynamics'](q, dq, module['direct_dynamics'](q, dq, tau))
    size = float(np.abs(tau).max())
    error = max(float(np.abs(x - tau).max()) for x in (found, again)) / size
    if not error <= TOLERANCE:
        raise DataError(f'{folder}: read back, its torques differ by {error:.2g} of the largest')
    return f'read back: torques of {STATES} states agree within {error:.1e} of the largest'
