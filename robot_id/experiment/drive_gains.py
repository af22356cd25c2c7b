"""
The gains of all drives at once, from recordings without and with a load of known mass.

Recorded torques y_j are wrong by a factor: g_j y_j = W_j chi without, W_j chi + W_j G p with the
load. All of it can be scaled, but for the mass in p, which is known and sets the scale. The noise
is in y, so that y_j = k_j (W_j chi + W_j G p), k_j = 1 / g_j, is solved for k, chi and the rest of
p (separable least squares); the linear form, which has y among its columns, is the start.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import files
from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError, OptionError
from robot_id.experiment.payload.attachment import Attachment, last_link
from robot_id.experiment.payload.rows import common_processing, joint_weights, rows_of
from robot_id.experiment.payload.solution import solve
from robot_id.model import Robot
from robot_id.progress import Progress, silent

Array = NDArray[np.float64]
SCHEMA = 1
# A deviation beyond this share of a gain: the load is too small to tell it.
LARGEST_DEVIATION = 0.2
ITERATIONS, CONVERGED = 50, 1e-9
# Filters, dead band and time offset are derived from data with right gains in the last pass.
PASSES = 2
_MASS = 9


@dataclass(frozen=True)
class DriveGains:
    """
    Factors that the recorded torques are to be multiplied by.

    :param joint_names: n names.
    :param gains: (n,) 1 where the recorded scale is right.
    :param deviations: (n,).
    :param mass: of the known load, kg.
    """

    joint_names: tuple[str, ...]
    gains: Array
    deviations: Array
    mass: float

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line for each drive whose sign is wrong."""
        return tuple(
            f"joint '{name}': gain {gain:.3g} is negative, a sign error of its torque or position"
            for name, gain in zip(self.joint_names, self.gains)
            if gain < 0.0
        )

    def lines(self) -> list[str]:
        """Return one line for each joint, with the half width of the 95 % interval."""
        rows = zip(self.joint_names, self.gains, self.deviations)
        return [f'{name}: {gain:.4g} +- {1.96 * std:.2g}' for name, gain, std in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        rows = zip(self.joint_names, self.gains, self.deviations)
        return {
            'schema': SCHEMA,
            'mass': self.mass,
            'gains': [
                {'joint': name, 'value': float(gain), 'std': float(std)}
                for name, gain, std in rows
            ],
            'warnings': list(self.warnings),
        }

    def save(self, path: str | Path) -> None:
        """Write the JSON form to a file."""
        files.write_text(path, json.dumps(self.to_dict(), indent=1) + '\n')


@dataclass(frozen=True)
class _Rows:
    """Weighted rows of all runs: X (M, n, b + 9), the known part F (M, n), Y (M, n)."""

    X: list[Array]
    F: list[Array]
    Y: list[Array]


def identify_drive_gains(
    robot: Robot,
    unloaded: Dataset,
    loaded: Dataset,
    mass: float,
    attachment: Attachment | None = None,
    progress: Progress = silent,
) -> DriveGains:
    """
    Return the gains of all drives relative to the scale of the recorded torques.

    :param mass: of the load, weighed, kg; its centre and inertia need not be known.
    :param attachment: where the load hangs; None for the last link.
    """
    if not (np.isfinite(mass) and mass > 0.0):
        raise OptionError(f'mass: {mass:g} must be above 0 kg', key='mass', value=mass)
    both = [data.select(robot.joint_names) for data in (unloaded, loaded)]
    gains = np.ones(robot.n)
    for k in range(PASSES):
        progress(k / PASSES, 'processing the recordings')
        scaled = [_multiplied(data, gains) for data in both]
        inverse, std = _solve(_rows(robot, scaled, mass, attachment or last_link(robot)), robot)
        # g = 1 / k, so dg = dk / k^2.
        deviations = np.abs(gains) * std / inverse**2
        gains = gains / inverse
    progress(1.0, 'done')
    return DriveGains(robot.joint_names, gains, deviations, float(mass))


def _multiplied(dataset: Dataset, gains: Array) -> Dataset:
    runs = tuple(replace(run, torque=run.torque * gains) for run in dataset.runs)
    return replace(dataset, runs=runs)


def _rows(robot: Robot, both: list[Dataset], mass: float, attachment: Attachment) -> _Rows:
    processing, slope = common_processing(robot, both)
    G = attachment.columns(robot)
    unknowns = len(robot.base) + _MASS + robot.n
    recordings = [rows_of(robot, data, processing, slope, unknowns) for data in both]
    weights = joint_weights(recordings)
    found = _Rows([], [], [])
    for rows, load in zip(recordings, (np.zeros_like(G), G)):
        for W, Y in zip(rows.W, rows.Y):
            W = W * weights[:, None]
            found.X.append(np.concatenate([W, W @ load[:, :_MASS]], axis=2))
            found.F.append(W @ load[:, _MASS] * mass)
            found.Y.append(Y * weights)
    return found


def _solve(rows: _Rows, robot: Robot) -> tuple[Array, Array]:
    """Return k = 1 / g with deviations: Gauss-Newton from the linear solution."""
    names, n, width = robot.joint_names, robot.n, rows.X[0].shape[2]
    linear = solve(
        [np.concatenate([-X, _per_joint(Y)], axis=2) for X, Y in zip(rows.X, rows.Y)], rows.F
    )
    _refuse_undetermined(linear.determined[width:], names)
    x, g = linear.x[:width], linear.x[width:]
    k = 1.0 / np.where(np.abs(g) > 1e-6, g, 1e-6)
    for _ in range(ITERATIONS):
        model = [X @ x + F for X, F in zip(rows.X, rows.F)]
        J = [
            np.concatenate([X * k[:, None], _per_joint(torque)], axis=2)
            for X, torque in zip(rows.X, model)
        ]
        step = solve(J, [Y - torque * k for Y, torque in zip(rows.Y, model)])
        x, k = x + step.x[:width], k + step.x[width:]
        if np.max(np.abs(step.x[width:])) < CONVERGED * np.max(np.abs(k)):
            break
    else:
        raise DataError('the gains do not converge: the load is too small, or the motion too poor')
    std = np.sqrt(np.diag(step.covariance)[width:])
    for j in range(n):
        if not std[j] < LARGEST_DEVIATION * abs(k[j]):
            raise DataError(
                f"joint '{names[j]}': its gain is known to {100 * std[j] / abs(k[j]):.3g} % only: "
                'the known load is too small against the noise, take a heavier one or a longer '
                'motion',
                joint=names[j],
            )
    return k, std


def _per_joint(values: Array) -> Array:
    """(M, n) -> (M, n, n) with the values on the diagonals."""
    return np.asarray(values[:, :, None] * np.eye(values.shape[1]))


def _refuse_undetermined(determined: NDArray[np.bool_], names: tuple[str, ...]) -> None:
    for name, told in zip(names, determined):
        if not told:
            raise DataError(
                f"joint '{name}': its gain is not determined by this motion: the load does not "
                'act on it, or it does not move',
                joint=name,
            )
