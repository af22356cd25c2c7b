"""
A payload that is fixed to a link: how it changes the parameters.

Inertial parameters of bodies that move together add up at the origin of their common frame, so a
payload is a change of the ten parameters of its link, and by the groupings of the base parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Payload:
    """
    A rigid body, or a point mass when it has no inertia.

    :param mass: kg.
    :param centre: (3,) its centre of mass in the frame of the link, m.
    :param inertia: (6,) XX XY XZ YY YZ ZZ about its own centre of mass, in the axes of the link.
    """

    mass: float
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: tuple[float, float, float, float, float, float] = (0.0,) * 6

    def __post_init__(self) -> None:
        if np.shape(self.centre) != (3,) or np.shape(self.inertia) != (6,):
            raise DescriptionError('payload: centre has 3 values, inertia XX XY XZ YY YZ ZZ')
        if not np.all(np.isfinite([self.mass, *self.centre, *self.inertia])):
            raise DescriptionError('payload: mass, centre and inertia must be finite')
        if self.mass < 0.0:
            raise DescriptionError(f'payload: mass {self.mass:g} kg, it must not be negative')
        principal = np.linalg.eigvalsh(_matrix(self.inertia))
        slack = 1e-9 * abs(principal[-1])
        if principal[0] < -slack or principal[0] + principal[1] < principal[2] - slack:
            raise DescriptionError(
                f'payload: no body has the principal inertias {np.round(principal, 9).tolist()}: '
                'each must be at most the sum of the two others'
            )

    def parameters(self) -> Array:
        """(10,) XX XY XZ YY YZ ZZ MX MY MZ M at the origin of the link's frame."""
        m, c = self.mass, np.asarray(self.centre, float)
        at_origin = _matrix(self.inertia) + m * (c @ c * np.eye(3) - np.outer(c, c))
        return np.concatenate([at_origin[np.triu_indices(3)], m * c, [m]])


def payload_parameters(robot: Robot, payload: Payload, joint: str | None = None) -> Array:
    """
    (b,) change of the base parameters when the payload is fixed to a link.

    :param joint: name of the joint that carries the link; None takes the last one.
    """
    bodies = robot.kinematics.body_names
    if joint is not None and joint not in bodies:
        raise DescriptionError(
            f"{robot.name}: no joint '{joint}' to carry a payload, {did_you_mean(joint, bodies)}",
            joint=joint,
        )
    body = robot.kinematics.own_body(robot.n - 1) if joint is None else bodies.index(joint)
    change = np.zeros(len(robot.standard_names))
    change[robot.inertial_index[body]] = payload.parameters()
    return robot.base.from_standard(change)


def payload_columns(robot: Robot, body: int | None = None) -> Array:
    """
    (b, 10) change of the base parameters for each inertial parameter that a load adds to a body.

    :param body: index of the moving body that carries it; None for that of the last joint.
    """
    place = robot.kinematics.own_body(robot.n - 1) if body is None else body
    G = np.zeros((len(robot.base), 10))
    for k, column in enumerate(robot.inertial_index[place]):
        unit = np.zeros(len(robot.standard_names))
        unit[column] = 1.0
        G[:, k] = robot.base.from_standard(unit)
    return G


def _matrix(six: tuple[float, ...]) -> Array:
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
