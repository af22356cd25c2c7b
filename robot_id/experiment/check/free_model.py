"""
The free model: tau = W chi with all base parameters unknown, only friction kept positive.

Its parameters absorb much of what is wrong, so a change that helps it is certain to be right, and
it needs no inertias of the robot file.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.decimation import decimate
from robot_id.experiment.check.plain_robot import TILTED, with_plain_terms
from robot_id.experiment.check.signals import EQUATION_DECIMATION, Signals
from robot_id.model import Robot

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# Weight of the unknown parameters towards zero, relative to the size of their columns.
RIDGE = 1e-3


class FreeModel:
    """
    The free model of one robot.

    :param robot: with plain terms.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    @cached_property
    def columns(self) -> Index:
        """Standard parameters that are independent in a general direction of gravity."""
        return with_plain_terms(self.robot, np.array(TILTED)).base.columns

    @cached_property
    def friction(self) -> Index:
        """Places of Fv and Fc among the columns."""
        names = [self.robot.standard_names[k] for k in self.columns]
        return np.flatnonzero([n[:2] in ('Fv', 'Fc') and n[2:].isdigit() for n in names])

    def residuals(self, robot: Robot, s: Signals) -> tuple[Array, Array]:
        """(n,) rms of what is left of the torques, relative to their size, and chi."""
        W, Y, size = self.equations(robot, s)
        weights = 1.0 / size
        for _ in range(2):
            A, y = (W * weights[:, None]).reshape(-1, W.shape[2]), (Y * weights).ravel()
            chi = ridge_solve(A, y, self.friction)
            left = Y - W @ chi
            rms = np.sqrt((left**2).sum(axis=0) / s.valid_equations().sum(axis=0)) / size
            weights = 1.0 / (size * np.clip(rms, 0.02, 1.0))
        return rms, chi

    def equations(self, robot: Robot, s: Signals) -> tuple[Array, Array, Array]:
        """
        Return W (m, n, b), Y (m, n) and the sizes of the torques (n,), filtered and decimated.

        Rows of clipped torques are zero.
        """
        W = dynamics.regressor(robot, s.q, s.dq, s.ddq, standard=True)[:, :, self.columns]
        flat = W.reshape(len(W), -1)
        acting = np.flatnonzero(np.abs(flat[::7]).max(axis=0))
        everything = np.concatenate([flat[:, acting], s.tau], axis=1)
        kept = np.concatenate(
            [decimate(everything[a:b], EQUATION_DECIMATION)[2:-2] for a, b in s.pieces]
        )
        out = np.zeros((len(kept), flat.shape[1]))
        out[:, acting] = kept[:, : len(acting)]
        valid = s.valid_equations()
        Y = kept[:, len(acting) :]
        mean = (Y * valid).sum(axis=0) / valid.sum(axis=0)
        size = np.sqrt((((Y - mean) * valid) ** 2).sum(axis=0) / valid.sum(axis=0))
        W = out.reshape(-1, s.n, W.shape[2]) * valid[:, :, None]
        return W, Y * valid, np.maximum(size, 1e-12)


def ridge_solve(A: Array, y: Array, positive: Index) -> Array:
    """
    Solve A chi = y by QR, each parameter drawn to zero by RIDGE times its column.

    :param positive: parameters that are zero where they would come out negative.
    """
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    b = A.shape[1]
    R = scipy.linalg.qr(
        np.column_stack([A / norms, y]), mode='r', check_finite=False, overwrite_a=True
    )[0][: b + 1]
    keep = np.ones(b, bool)
    for _ in range(4):
        count = int(keep.sum())
        small = np.concatenate([R[:, :b][:, keep], RIDGE * np.eye(count)])
        target = np.concatenate([R[:, b], np.zeros(count)])
        r = np.asarray(np.linalg.qr(np.column_stack([small, target]), mode='r'))
        chi = np.zeros(b)
        chi[keep] = scipy.linalg.solve_triangular(r[:count, :count], r[:count, count])
        wrong = positive[chi[positive] < 0]
        if not wrong.size:
            break
        keep[wrong] = False
    return chi / norms
