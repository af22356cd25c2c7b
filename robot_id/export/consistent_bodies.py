"""Input of the model formats: physically consistent bodies and drives of a result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError
from robot_id.export.parts import Request
from robot_id.methods.consistency import project, standard_of
from robot_id.methods.parameters import parameters_for
from robot_id.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bodies:
    """
    A physically consistent robot.

    :param robot: the Robot.
    :param x: (s,) standard parameters.
    :param rows: (nb, 10) inertial parameters of the bodies, direct rotors included.
    :param notes: how it was found.
    """

    robot: Robot
    x: Array
    rows: Array
    notes: tuple[str, ...]

    def value(self, name: str) -> float:
        """Return a standard parameter, 0 where the robot has none of that name."""
        names = self.robot.standard_names
        return float(self.x[names.index(name)]) if name in names else 0.0


def bodies_of(request: Request) -> Bodies:
    """
    Return the bodies of a result; one without standard parameters is made physically consistent
    first.

    :raises DataError: where the result cannot be used.
    """
    robot, result = request.loaded, request.result
    if not result.converged:
        raise DataError(f'{request.source}: {result.method} did not converge, no model is written')
    chi = parameters_for(robot, result)
    notes: tuple[str, ...] = ()
    if result.standard_parameters is None:
        result = project(robot, result)
        moved = np.abs(parameters_for(robot, result) - chi)
        sigma = np.sqrt(np.diag(request.result.covariance))
        far = float(np.nanmax(moved / np.where(sigma > 0.0, sigma, np.nan)))
        assert result.physical is not None
        notes = (
            f'{request.source} was not identified with physical=true: its parameters were moved '
            f'to the nearest physically consistent ones, by {far:.2g} standard deviations at most '
            f'({result.physical["meaning"]})',
        )
    x = standard_of(robot, result)
    return Bodies(robot, x, robot.standard.inertial_rows(x), notes)


def central(row: Array) -> tuple[float, Array, Array]:
    """Return mass, (3,) centre and (3, 3) inertia about the centre of a body."""
    m, c = float(row[9]), row[6:9] / row[9]
    xx, xy, xz, yy, yz, zz = row[:6]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return m, c, tensor - m * (c @ c * np.eye(3) - np.outer(c, c))


def text_of(values: Array | list[float]) -> str:
    """Return numbers with every digit, separated by spaces."""
    return ' '.join(repr(float(v)) for v in np.ravel(values))
