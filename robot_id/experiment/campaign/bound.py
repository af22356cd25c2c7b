"""
The Cramer-Rao bound of a condition: how well any unbiased method could know the parameters.

The recorded position and torque are those of the closed loop plus independent noise, so the
information is the sum over the records of S' S / sigma_q^2 + T' T / sigma_tau^2, S = d q/d chi and
T = d tau/d chi the sensitivities of the loop with its own gains. It is the bound for methods that
know the loop exactly and compare signals: information from the encoder noise that passes through
the controller is not included.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.control import tune
from robot_id.dynamics import Disturbances
from robot_id.dynamics.sensitivity import loop_sensitivities
from robot_id.experiment.campaign.disturbing import disturbances
from robot_id.experiment.campaign.world import plant_of, reference_of, samples_per_record
from robot_id.experiment.recording import perform
from robot_id.model import Robot
from robot_id.regression.triangular import triangle

Array = NDArray[np.float64]
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
