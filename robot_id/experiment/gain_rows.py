"""The rows from which the gains of the drives follow, and their total least squares solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.experiment.payload.attachment import Attachment
from robot_id.experiment.payload.rows import joint_weights, rows_of, settle_all
from robot_id.experiment.payload.solution import solve
from robot_id.model import Robot
from robot_id.model.friction_columns import friction_parameters
from robot_id.regression.triangular import triangle

Array = NDArray[np.float64]
_MASS = 9


@dataclass(frozen=True)
class GainRows:
    """
    Weighted rows of all runs: g Y = X x + F.

    :param X: (M, n, p) arm, friction of each loaded recording, unknown loads, and the nine
        parameters of the known load that are not its mass.
    :param F: (M, n) what the known mass adds.
    :param Y: (M, n) recorded torques.
    """

    X: list[Array]
    F: list[Array]
    Y: list[Array]


def gain_rows(
    robot: Robot, recordings: Sequence[Dataset], mass: float, place: Attachment
) -> GainRows:
    """
    Return the rows of recordings.

    :param recordings: without load, with unknown loads, and last with the known one.
    """
    own, G, b = friction_parameters(robot), place.columns(robot), len(robot.base)
    others = len(recordings) - 2
    unknowns = b + len(own) + _MASS + robot.n
    all_rows = [
        rows_of(robot, data, settled, unknowns)
        for data, settled in zip(recordings, settle_all(robot, recordings))
    ]
    weights = joint_weights(all_rows)
    found = GainRows([], [], [])
    for r, rows in enumerate(all_rows):
        known = float(r == others + 1)
        for W, Y in zip(rows.W, rows.Y):
            W = W * weights[:, None]
            loads = W @ G
            found.X.append(
                np.concatenate(
                    [
                        W,
                        *(W[:, :, own] * float(r == k + 1) for k in range(others + 1)),
                        *(loads * float(r == k + 1) for k in range(others)),
                        loads[:, :, :_MASS] * known,
                    ],
                    axis=2,
                )
            )
            found.F.append(loads[:, :, _MASS] * mass * known)
            found.Y.append(Y * weights)
    return found


def total_gains(rows: GainRows) -> Array:
    """
    (n,) gains by total least squares: [Y -X -F] (g, x, 1)' = 0, columns of unit length.

    The right singular vector of the smallest singular value, scaled so that its last entry, that
    of the known mass, is 1.
    """
    n = rows.Y[0].shape[1]
    basis = solve(rows.X, rows.Y, deviations=False).basis
    parts = [
        np.concatenate([Y[:, :, None] * np.eye(n), -(X @ basis), -F[:, :, None]], axis=2)
        for X, F, Y in zip(rows.X, rows.F, rows.Y)
    ]
    width = parts[0].shape[2]
    R = triangle(np.concatenate([part.reshape(-1, width) for part in parts]))
    scale = np.linalg.norm(R, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    v = np.linalg.svd(R / scale)[2][-1] / scale
    with np.errstate(divide='ignore', invalid='ignore'):
        return np.asarray(v[:n] / v[-1])
