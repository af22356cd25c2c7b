"""Predicted standard deviations of an identification on a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_id import dynamics
from robot_id.exceptions import OptionError
from robot_id.excitation.recorded import Recorded
from robot_id.robot import Robot
from robot_id.trajectory.reference import Reference
from robot_id.trajectory.trajectory import Array


@dataclass(frozen=True)
class Deviations:
    """
    Predicted standard deviations of the base parameters.

    :param names: (b,) parameters.
    :param expected: (b,) values they are expected to have, NaN where nothing is known.
    :param std: (b,) standard deviations, infinite where the motion does not excite a parameter.
    """

    names: tuple[str, ...]
    expected: Array
    std: Array

    @property
    def percent(self) -> Array:
        """(b,) 100 sigma / |chi|, infinite where the expected value is zero."""
        with np.errstate(divide='ignore', invalid='ignore'):
            percent = 100.0 * self.std / np.abs(self.expected)
        return np.where(self.expected == 0.0, np.inf, percent)

    def identified(self, percent: float = 10.0) -> list[str]:
        """Return the parameters whose percent deviation is below a bound."""
        return [name for name, p in zip(self.names, self.percent) if p < percent]


def predict_deviations(
    robot: Robot,
    reference: Reference,
    torque_std: Array,
    expected: Array | None = None,
    coulomb_slope: float | None = None,
    columns: Array | None = None,
    known: Recorded | None = None,
) -> Deviations:
    """
    Predict sigma of weighted least squares: C = (W^T G^T G W)^-1, G = diag(1/sigma_j).

    White torque noise of sigma_j at the rate of the reference, positions without noise, every
    sample used; a decimation that keeps the motion's band keeps the information. With R of the QR
    of G W, sigma_i is the norm of row i of R^-1.

    :param torque_std: (n,) noise of the torque samples, N.m or N.
    :param expected: (b,) values for the percentages, or None.
    :param columns: (b, p) combinations of the parameters to find, None for all of them; then
        `expected` is (p,), and the names are numbers.
    :param known: recordings that are identified together with the motion, sampled as it is.
    """
    noise = np.broadcast_to(np.asarray(torque_std, float), (robot.n,))
    if not np.all(np.isfinite(noise)) or np.any(noise <= 0.0):
        raise OptionError(f'the torque noise must be positive, got {np.min(noise):g}')
    q, dq, ddq = reference.position, reference.velocity, reference.acceleration
    parts = [dynamics.regressor(robot, q, dq, ddq, coulomb_slope)]
    for x, step in () if known is None else zip(known.states, known.steps):
        q, dq, ddq = np.swapaxes(x, 1, 2)
        rows = dynamics.regressor(robot, q, dq, ddq, coulomb_slope)
        parts.append(rows * np.sqrt(step / reference.step))
    W = np.concatenate(parts)
    names = robot.base.names
    if columns is not None:
        W, names = W @ columns, tuple(str(k) for k in range(columns.shape[1]))
    rows = (W / noise[:, None]).reshape(-1, W.shape[2])
    R = np.asarray(np.linalg.qr(rows, mode='r'))
    values = np.full(len(names), np.nan) if expected is None else np.asarray(expected, float)
    return Deviations(names, values, _row_norms_of_inverse(R))


def _row_norms_of_inverse(R: Array) -> Array:
    """Return the norms of the rows of R^-1, infinite for directions that R does not hold."""
    _, singular, Vt = scipy.linalg.svd(R)
    held = singular > singular[0] * len(singular) * np.finfo(float).eps
    if np.all(held):
        inverse = scipy.linalg.solve_triangular(R, np.eye(len(R)))
        return np.asarray(np.linalg.norm(inverse, axis=1))
    norms = np.linalg.norm(Vt[held].T / singular[held], axis=1)
    lost = np.linalg.norm(Vt[~held], axis=0) > 1e-6
    return np.where(lost, np.inf, norms)
