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
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id import __version__, options
from robot_id.control import tune
from robot_id.dynamics import Disturbances, inverse_dynamics
from robot_id.dynamics.simulation.sensitivity import loop_sensitivities
from robot_id.exceptions import printable
from robot_id.methods import registry
from robot_id.methods.result import Result
from robot_id.regression.solvers.triangular import triangle
from robot_id.robot import Robot
from robot_id.studies.campaign.disturbing import disturbances
from robot_id.studies.campaign.grid import Cell, key_of
from robot_id.studies.campaign.labels import labels_of
from robot_id.studies.campaign.world import (
    holdout_of,
    known_robot,
    plant_of,
    recording,
    reference_of,
    samples_per_record,
)
from robot_id.tasks.recording import perform

Array = NDArray[np.float64]
Row = dict[str, Any]
# The sensitivities are smooth: they are sampled no faster than this, and weighted accordingly.
HIGHEST_HZ = 250.0
PARTS = ('robots', 'motions', 'noise', 'rates', 'friction')


def bound_of(cell: dict[str, Any]) -> list[float]:
    """
    Return the (b,) least deviations that a cell allows.

    Empty where there is no such bound: the fitted friction is not the plant's, a signal is free of
    noise, or the law of the loop has no sensitivities.
    """
    return list(_bound(json.dumps({key: cell[key] for key in PARTS}, sort_keys=True)))


@lru_cache(maxsize=64)
def _bound(parts: str) -> tuple[float, ...]:
    cell = json.loads(parts)
    robot, loop = plant_of(cell)
    own = tune(robot, loop)
    feedback, noise = own.law.feedback(own), cell['noise']
    scatter = _scatter(robot, noise)
    if cell['friction'] is not None or feedback is None or scatter is None:
        return ()
    done = perform(robot, reference_of(cell), loop=loop, disturbances=Disturbances())
    every = samples_per_record(loop, cell['rates'])
    coarse = max(int(loop.rate_hz / every / HIGHEST_HZ), 1)
    pick, record = slice(None, None, coarse * every), every / loop.rate_hz
    q, dq, ddq = (x[pick] for x in (done.position, done.velocity, done.acceleration))
    S, T = loop_sensitivities(
        robot, robot.truth(), q, dq, ddq, coarse * record, feedback[:2], 0.0,
        robot.description.coulomb_slope,
    )  # fmt: skip
    colour = noise['colour']
    if colour:
        # What is left of e_k = a e_k-1 + sqrt(1 - a^2) w_k when its past is taken off.
        slope = record * np.gradient(T, coarse * record, axis=0)
        T = ((1.0 - colour) * T + colour * slope) / np.sqrt(1.0 - colour**2)
    rows = np.concatenate([x / s[:, None] for x, s in zip((S, T), scatter)])
    R = triangle(rows.reshape(-1, rows.shape[2]) * np.sqrt(coarse * (1.0 - noise['missed'])))
    root = sl.solve_triangular(R, np.eye(len(R)))
    return tuple(float(v) for v in np.sqrt(np.sum(root**2, axis=1)))


def _scatter(robot: Robot, noise: dict[str, Any]) -> tuple[Array, Array] | None:
    """Return the (n,) deviations of positions and torques, None where one of them is zero."""
    white = disturbances(robot, {**noise, 'colour': 0.0}, 0)
    squares = np.zeros(robot.n)
    for std, share in ((white.encoder_step, 1.0 / 12.0), (white.position_std, 1.0)):
        squares += 0.0 if std is None else share * np.asarray(std) ** 2
    if white.torque_std is None or not np.all(squares > 0.0) or not np.all(white.torque_std > 0.0):
        return None
    return np.sqrt(squares), np.asarray(white.torque_std)


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
