"""
The parameters that a motion must determine to weigh a load: its ten, and the friction.

The rest of the arm is known from another recording, friction is not: it drifts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_id.exceptions import DescriptionError
from robot_id.excitation.deviations import Deviations, predict_deviations
from robot_id.excitation.recorded import Recorded
from robot_id.robot import Robot
from robot_id.robot.friction.columns import friction_parameters
from robot_id.robot.parameters.inertia import INERTIAL
from robot_id.robot.payload import payload_columns
from robot_id.trajectory.reference import Reference
from robot_id.trajectory.trajectory import Array

# A load of this mass and size, in kg and m, gives the parameters their sizes.
MASS, LENGTH = 1.0, 0.1
SIZES = MASS * np.array([LENGTH**2] * 6 + [LENGTH] * 3 + [1.0])
# A column this small beside the others adds nothing.
NOTHING = 1e-8


@dataclass(frozen=True)
class LoadColumns:
    """
    Columns of the load on the last link, and of the friction.

    :param names: (p,) of the load's parameters that can be separated, then of the friction.
    :param C: (b, p) change of the base parameters for each.
    :param sizes: (p,) what they are expected to be.
    :param loads: how many of them are of the load.
    """

    names: tuple[str, ...]
    C: Array
    sizes: Array
    loads: int

    def predict(
        self,
        robot: Robot,
        reference: Reference,
        torque_std: Array,
        known: Recorded | None = None,
    ) -> Deviations:
        """Return the deviations of the load's parameters on a motion."""
        found = predict_deviations(
            robot, reference, torque_std, self.sizes, columns=self.C, known=known
        )
        k = self.loads
        return Deviations(self.names[:k], found.expected[:k], found.std[:k])


def load_columns(robot: Robot, friction_sizes: Array) -> LoadColumns:
    """
    Return the columns of a robot.

    :param friction_sizes: (b,) sizes of the base parameters, for those of the friction.
    """
    G = payload_columns(robot) * SIZES
    _, R, order = scipy.linalg.qr(G, mode='economic', pivoting=True)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > NOTHING * max(size[0], NOTHING)))
    if rank == 0:
        raise DescriptionError(f'{robot.name}: no joint feels a load on its last link')
    chosen = np.sort(order[:rank])
    own, b = friction_parameters(robot), len(robot.base)
    columns = np.concatenate([payload_columns(robot)[:, chosen], np.eye(b)[:, own]], axis=1)
    names = (*(f'load {INERTIAL[k]}' for k in chosen), *(robot.base.names[i] for i in own))
    sizes = np.concatenate([SIZES[chosen], friction_sizes[own]])
    return LoadColumns(names, columns, sizes, rank)


def deviations_for(
    purpose: str,
    robot: Robot,
    reference: Reference,
    torque_std: Array,
    expected: Array | None,
    known: Recorded | None = None,
) -> Deviations:
    """Return the predicted deviations of the arm, or of a load (see `ExcitationOptions`)."""
    if purpose != 'payload':
        return predict_deviations(robot, reference, torque_std, expected, known=known)
    columns = load_columns(robot, np.ones(len(robot.base)))
    return columns.predict(robot, reference, torque_std, known)
