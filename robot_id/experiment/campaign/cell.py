"""One run: a pure function from its description to one row."""

from __future__ import annotations

import json
import platform
import time
from functools import lru_cache
from typing import Any

import numpy as np
import pinocchio as pin
import scipy
from numpy.typing import NDArray

from robot_id import __version__, options
from robot_id.dynamics import inverse_dynamics
from robot_id.estimation import registry
from robot_id.estimation.result import Result
from robot_id.exceptions import printable
from robot_id.experiment.campaign.bound import bound_of
from robot_id.experiment.campaign.grid import Cell, key_of
from robot_id.experiment.campaign.labels import labels_of
from robot_id.experiment.campaign.world import holdout_of, known_robot, plant_of, recording
from robot_id.model import Robot

Array = NDArray[np.float64]
Row = dict[str, Any]


def run_cell(cell: Cell) -> Row:
    """
    Simulate, identify and compare with the truth; an error becomes the row of a failure.

    All but `seconds` and `cell_seconds` follows from the description alone.
    """
    started = time.perf_counter()
    row = empty_row(cell)
    try:
        robot = known_robot(cell)
        row |= {'names': list(robot.base.names), 'truth': _list(robot.truth())}
        row['bound'] = bound_of(cell)
        result = _estimate(cell, robot)
        row |= _figures(cell, robot, result)
    except MemoryError:
        row['failure'] = 'MemoryError: it needs more memory than its limit'
    except Exception as error:
        row['failure'] = printable(f'{type(error).__name__}: {error}')
    return row | {'cell_seconds': time.perf_counter() - started}


def empty_row(cell: Cell) -> Row:
    """Return the row of a failed run."""
    return {
        'key': key_of(cell),
        'cell': json.dumps(cell, sort_keys=True),
        **labels_of(cell),
        'repetition': cell['repetition'],
        'seed': cell['seed'],
        'verdict': 'failed',
        'failure': '',
        'names': [],
        'truth': [],
        'values': [],
        'std': [],
        'bound': [],
        'parameter_error_percent': float('nan'),
        'torque_error_percent': float('nan'),
        'fit_error_percent': float('nan'),
        'iterations': 0,
        'simulations': 0,
        'seconds': float('nan'),
        'cell_seconds': float('nan'),
        'versions': versions(),
    }


def _estimate(cell: Cell, robot: Robot) -> Result:
    method = cell['methods']
    chosen = dict(method['options'])
    if cell['starts'] is not None:
        known = options.options_of(registry.method_class(method['method']))
        if 'start_values' in known:
            chosen['start_values'] = _list(robot.a_priori())
        else:
            chosen['start'] = 'a_priori'
    return registry.create(method['method'], chosen).estimate(robot, recording(cell))


def _figures(cell: Cell, robot: Robot, result: Result) -> Row:
    """Return the entries of a row for a result."""
    truth = robot.truth()
    finite = bool(np.all(np.isfinite(result.values)))
    error = 100.0 * np.linalg.norm(result.values - truth) / np.linalg.norm(truth)
    return {
        'verdict': 'converged' if result.converged and finite else 'not converged',
        'values': _list(result.values),
        'std': _list(result.std),
        'parameter_error_percent': float(error),
        'torque_error_percent': _holdout_error(cell, robot, result.values) if finite else np.nan,
        'fit_error_percent': float(result.relative_error_percent),
        'iterations': int(result.iterations),
        'simulations': int(result.simulations),
        'seconds': float(result.elapsed_s),
    }


def _holdout_error(cell: Cell, robot: Robot, chi: Array) -> float:
    """Return 100 ||tau - tau(chi)|| / ||tau|| along the exact motion that no fit has seen."""
    done = holdout_of(cell)
    slope = plant_of(cell)[0].description.coulomb_slope
    tau = inverse_dynamics(robot, chi, done.position, done.velocity, done.acceleration, slope)
    return float(100.0 * np.linalg.norm(done.torque - tau) / np.linalg.norm(done.torque))


@lru_cache(maxsize=1)
def versions() -> str:
    """Return the versions of the software that computed it."""
    found = {
        'robot_id': __version__,
        'python': platform.python_version(),
        'numpy': np.__version__,
        'scipy': scipy.__version__,
        'pinocchio': pin.__version__,
    }
    return json.dumps(found)


def _list(values: Array) -> list[float]:
    return [float(v) for v in values]
