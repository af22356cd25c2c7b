"""A motion through given samples, from arrays or from a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import ArrayLike

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory.piecewise import PiecewisePolynomial
from robot_id.trajectory.quintic import hermite
from robot_id.trajectory.trajectory import Array, as_matrix, as_vector

if TYPE_CHECKING:
    from robot_id.data.dataset import Run


class SampledMotion(PiecewisePolynomial):
    """
    Passes exactly through samples; its derivatives between them are exact too.

    With velocity and acceleration: quintics that meet all three at every sample. With velocity
    alone: cubics that meet both. With neither: the fifth-order spline through the positions, which
    needs 6 samples; filter measured positions first, as it follows their noise.

    :param time: (N,) seconds, strictly increasing; the motion starts at the first.
    :param position: (N, n).
    :param velocity: (N, n), or None.
    :param acceleration: (N, n), or None; needs the velocity.
    :param periodic: whether the motion goes on cycle after cycle.
    """

    kind = 'playback'

    def __init__(
        self,
        time: ArrayLike,
        position: ArrayLike,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        periodic: bool = False,
    ) -> None:
        self.position = as_matrix(position, 'playback: position')
        N = len(self.position)
        self.time = as_vector(time, 'playback: time', N)
        if N < 2:
            raise TrajectoryError('playback: at least 2 samples are needed')
        steps = np.diff(self.time)
        if np.any(steps <= 0.0):
            i = int(np.argmax(steps <= 0.0))
            raise TrajectoryError(
                f'playback: time goes from {self.time[i]:.6g} to {self.time[i + 1]:.6g} s at '
                f'sample {i + 2}; it must increase'
            )
        if velocity is None and acceleration is not None:
            raise TrajectoryError('playback: an acceleration is given without the velocity')
        self.velocity = self._derivative(velocity, 'velocity')
        self.acceleration = self._derivative(acceleration, 'acceleration')
        super().__init__(self.time - self.time[0], self._coefficients(steps), periodic)

    def _derivative(self, values: ArrayLike | None, what: str) -> Array | None:
        if values is None:
            return None
        matrix = as_matrix(values, f'playback: {what}', self.position.shape[1])
        if len(matrix) != len(self.position):
            raise TrajectoryError(
                f'playback: {len(matrix)} rows of {what} for {len(self.position)} of position'
            )
        return matrix

    def _coefficients(self, steps: Array) -> Array:
        q, dq, ddq = self.position, self.velocity, self.acceleration
        if dq is not None and ddq is not None:
            return hermite(steps, q, dq, ddq)
        if dq is not None:
            T = steps[:, None]
            D = (q[1:] - q[:-1]) / T
            c2 = (3.0 * D - 2.0 * dq[:-1] - dq[1:]) / T
            c3 = (dq[:-1] + dq[1:] - 2.0 * D) / T**2
            return np.stack([q[:-1], dq[:-1], c2, c3], axis=1)
        if len(q) < 6:
            raise TrajectoryError(
                f'playback: {len(q)} positions without velocity, the fifth-order spline needs 6'
            )
        # A piece between two samples is one polynomial of the spline: its ends fix it.
        at = self.time - self.time[0]
        try:
            spline = scipy.interpolate.make_interp_spline(at, q, k=5)
        except (np.linalg.LinAlgError, ValueError) as error:
            raise TrajectoryError(
                'playback: the time steps differ too much for a spline; give the velocity too'
            ) from error
        return hermite(steps, q, spline(at, 1), spline(at, 2))

    @classmethod
    def from_run(cls, run: Run, periodic: bool = False) -> SampledMotion:
        """Follow the reference of a recorded run, or its measured motion if it has none."""
        if run.reference_position is not None:
            return cls(
                run.time,
                run.reference_position,
                run.reference_velocity,
                run.reference_acceleration if run.reference_velocity is not None else None,
                periodic,
            )
        return cls(run.time, run.position, run.velocity, None, periodic)

    @classmethod
    def from_file(
        cls, path: str | Path, joint_names: tuple[str, ...] | None = None, run: int = 0
    ) -> SampledMotion:
        """
        Follow a reference csv or a recording: anything that `robot_id.data.load` reads.

        :param joint_names: the joints to take, matched by name.
        :param run: which run of the recording, counted from 0.
        """
        from robot_id import data
        from robot_id.trajectory.reference_csv import is_reference_csv, read_reference_csv

        if is_reference_csv(path):
            reference, _ = read_reference_csv(path, joint_names)
            return cls(
                reference.time, reference.position, reference.velocity, reference.acceleration
            )
        dataset = data.load(path)
        if joint_names is not None:
            dataset = dataset.select(tuple(joint_names))
        if not 0 <= run < len(dataset.runs):
            raise TrajectoryError(
                f'{path}: no run {run}, it has {len(dataset.runs)}', code='no_run'
            )
        return cls.from_run(dataset.runs[run])
