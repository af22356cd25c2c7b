"""The identified model: torques, inertia and gravity of any motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id import dynamics
from robot_id.data.dataset import Run
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import resolve, usable
from robot_id.exceptions import DataError
from robot_id.methods.parameters import parameters_for, robot_for
from robot_id.methods.result import Result
from robot_id.robot import Robot
from robot_id.robot.friction.columns import friction_parameters
from robot_id.tasks.validation import Conditions

Array = NDArray[np.float64]


class Model:
    """
    The inverse and direct dynamic model with identified parameters.

    States are (n,) or (N, n), positions in rad or m, in the order of `joint_names`.

    :param robot: the Robot.
    :param result: what was identified.
    """

    def __init__(self, robot: Robot, result: Result) -> None:
        self.robot = robot_for(robot, result)
        self.parameters = parameters_for(self.robot, result)
        self.coulomb_slope: float | None = result.options.get('coulomb_slope')
        self._result = result
        places = friction_parameters(self.robot)
        self._friction = np.zeros_like(self.parameters)
        self._friction[places] = self.parameters[places]
        self._rigid = self.parameters - self._friction

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the n joints, in the order of all columns."""
        return self.robot.joint_names

    def torque(self, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike) -> Array:
        """Return the torques of a motion, friction included, N.m or N."""
        states = self._states(q=q, dq=dq, ddq=ddq)
        return dynamics.inverse_dynamics(
            self.robot, self.parameters, states[0], states[1], states[2], self.coulomb_slope
        )

    def inertia(self, q: ArrayLike) -> Array:
        """Return the inertia matrix M(q) with the rotors, (n, n) or (N, n, n)."""
        return dynamics.inertia_matrix(self.robot, self.parameters, self._states(q=q)[0])

    def gravity(self, q: ArrayLike) -> Array:
        """Return the torques of gravity alone, without friction and offsets."""
        (states,) = self._states(q=q)
        rest = np.zeros_like(states)
        return dynamics.inverse_dynamics(self.robot, self._rigid, states, rest, rest)

    def friction(self, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike) -> Array:
        """Return the torques of friction and offsets alone; load-dependent terms need q, ddq."""
        x, dx, ddx = self._states(q=q, dq=dq, ddq=ddq)
        W = dynamics.regressor(self.robot, x, dx, ddx, coulomb_slope=self.coulomb_slope)
        return np.asarray(W @ self._friction)

    def torque_along(self, time: ArrayLike, q: ArrayLike) -> Array:
        """
        Return the (N, n) torques of measured positions, differentiated and filtered as in the fit.

        They hold all frequencies that the filter of the positions passes. To compare them with
        measured torques take `Fit.prediction`: there both pass the second filter of the fit.

        :param time: (N,) seconds, uniform; a gap is refused, since no filter may cross it, and so
            is a motion that ends before the filters have settled.
        :param q: (N, n) measured positions; (N,) for one joint.
        """
        (positions,) = self._states(q=_column(q, self.robot.n))
        try:
            stamps = np.asarray(time, float)
        except (TypeError, ValueError) as error:
            raise DataError(f'time is not an array of numbers ({error})', key='time') from error
        if stamps.shape != positions.shape[:1]:
            raise DataError(
                f'time has shape {stamps.shape}, q {positions.shape}: one time for each row is '
                'needed',
                key='time',
            )
        _finite('time', stamps)
        run = Run(stamps, positions, np.zeros_like(positions))
        processing = resolve(Conditions.of(self._result, run.rate).processing, run.rate)
        usable(run, processing)
        x, dx, ddx = differentiate(run, processing)
        return dynamics.inverse_dynamics(
            self.robot, self.parameters, x, dx, ddx, self.coulomb_slope
        )

    def _states(self, **given: ArrayLike) -> tuple[Array, ...]:
        found = []
        for name, values in given.items():
            try:
                x = np.asarray(values, float)
            except (TypeError, ValueError) as error:
                raise DataError(
                    f'{name} is not an array of numbers ({error})', key=name
                ) from error
            if x.ndim not in (1, 2) or x.shape[-1] != self.robot.n:
                raise DataError(
                    f'{name} has shape {x.shape}, (n,) or (N, n) with n = {self.robot.n} joints '
                    f'({", ".join(self.joint_names)}) is needed',
                    key=name,
                    value=x.shape,
                    bound=self.robot.n,
                )
            _finite(name, x)
            found.append(x)
        shapes = {x.shape for x in found}
        if len(shapes) > 1:
            raise DataError(f'{", ".join(given)} have different shapes: {sorted(shapes)}')
        return tuple(found)

    def __repr__(self) -> str:
        return f'Model({self.robot.name!r}, n={self.robot.n}, by {self._result.method})'


def _finite(name: str, values: Array) -> None:
    """Refuse values that are not numbers, naming the first row."""
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        raise DataError(f'{name} is not finite in row {row + 1}', key=name, value=row)


def _column(values: ArrayLike, n: int) -> ArrayLike:
    """Return the positions of a single joint as a column."""
    found = np.asarray(values)
    return found[:, None] if n == 1 and found.ndim == 1 else values
