"""Whether a load hangs on the link that was named."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.experiment.payload.attachment import Attachment
from robot_id.experiment.payload.ways import Fit
from robot_id.model import Robot
from robot_id.model.payload import payload_columns
from robot_id.regression.triangular import triangle

Array = NDArray[np.float64]
# Another link is named where it leaves this share of the power that the given one leaves.
DECISIVE = 0.7


def other_link(named: Robot, robot: Robot, fit: Fit, place: Attachment, index: int) -> list[str]:
    """
    Return one line where a load on another link explains the torques decisively better.

    :param named: the robot whose bodies have names.
    :param index: which loaded recording; only the first is looked at.
    """
    bodies = range(len(robot.inertial_index))
    if index or len(robot.inertial_index) < 2:
        return []
    p = fit.A[0].shape[2]
    before = p - 10 * len(fit.changes)
    rest = [A[:, :, [*range(before), *range(before + 10, p)]] for A in fit.A]
    each = [payload_columns(robot, body) for body in bodies]
    everything = [
        np.concatenate([own, W @ np.concatenate(each, axis=1), y[:, :, None]], axis=2)
        for own, W, y in zip(rest, fit.rows, fit.y)
    ]
    width = everything[0].shape[2]
    R = triangle(np.concatenate([part.reshape(-1, width) for part in everything]))
    common = list(range(p - 10))
    left = {}
    for body in bodies:
        own = [*common, *range(p - 10 + 10 * body, p + 10 * body)]
        left[body] = _residual(R[:, own], R[:, -1])
    best = min(left, key=lambda body: left[body])
    if left[best] >= DECISIVE * left[place.body]:
        return []
    name = named.kinematics.body_names[best]
    gain = 100.0 * (1.0 - left[best] / left[place.body])
    return [
        f"a load on the link of joint '{name}' leaves {gain:.0f} % less of the torques "
        f'unexplained than one on {place.name}: is the flange frame right?'
    ]


def _residual(A: Array, y: Array) -> float:
    scale = np.linalg.norm(A, axis=0)
    x = np.linalg.lstsq(A / np.where(scale > 0.0, scale, 1.0), y, rcond=1e-9)[0]
    return float(np.sum((y - A / np.where(scale > 0.0, scale, 1.0) @ x) ** 2))
