"""
The gains of all drives at once, from recordings without and with a load of known mass.

Recorded torques y_j are wrong by a factor: g_j y_j = W_j chi without, W_j chi + W_j G p with a
load. All of it can be scaled, but for the mass in p, which is known and sets the scale. The noise
is in y, so that y_j = k_j (W_j chi + W_j G p), k_j = 1 / g_j, is solved for k, chi and the rest of
p (separable least squares), with p a physically consistent body. The linear form, which has y
among its columns, is the start, and its total least squares solution is given beside it (Gautier
and Briot 2011).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import files
from robot_id.blas_threads import one_blas_thread
from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError, OptionError
from robot_id.json_numbers import finite_or_none
from robot_id.progress import Progress, silent
from robot_id.regression.solvers.triangular import column_sizes, triangle
from robot_id.robot import Robot
from robot_id.robot.friction.columns import friction_parameters
from robot_id.tasks.payload.attachment import Attachment, last_link
from robot_id.tasks.payload.consistency import nearest_consistent
from robot_id.tasks.payload.rows import joint_weights, refuse_same, resolve_all, rows_of
from robot_id.tasks.payload.solution import solve

Array = NDArray[np.float64]
# A deviation beyond this share of a gain: the load is too small to determine it.
LARGEST_DEVIATION = 0.2
ITERATIONS, CONVERGED = 50, 1e-9
# Filters, rest band and time offset are derived from data with right gains in the last pass.
PASSES = 2
SCHEMA = 1
# Half width of a 95 % interval in deviations.
HALF = 1.96
# A larger factor is not ageing of a drive but a wrong gear ratio or unit.
STRANGE = 2.0
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
        rows_of(robot, data, resolved, unknowns)
        for data, resolved in zip(recordings, resolve_all(robot, recordings))
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
    scale = column_sizes(R)
    v = np.linalg.svd(R / scale)[2][-1] / scale
    with np.errstate(divide='ignore', invalid='ignore'):
        return np.asarray(v[:n] / v[-1])


@dataclass(frozen=True)
class DriveGains:
    """
    Factors that the recorded torques are to be multiplied by.

    :param joint_names: n names.
    :param gains: (n,) 1 where the recorded scale is right; least squares, the load a body.
    :param deviations: (n,).
    :param total: (n,) the same by total least squares.
    :param mass: of the known load, kg.
    :param written: (n,) `drive_gain` for the robot file, None where the sign is wrong.
    """

    joint_names: tuple[str, ...]
    gains: Array
    deviations: Array
    total: Array
    mass: float
    written: tuple[float | None, ...]

    @property
    def worst_percent(self) -> float:
        """Largest half width of an interval, in percent of its gain."""
        return float(np.max(100.0 * HALF * self.deviations / np.abs(self.gains)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line for each drive whose sign or gear is wrong; one for all if all are negative."""
        found = []
        if len(self.gains) > 1 and np.all(self.gains < 0.0):
            return (
                'all gains are negative: are the recordings with and without load swapped? If '
                'not, all torques or all positions have the wrong sign',
            )
        for name, gain in zip(self.joint_names, self.gains):
            if gain < 0.0:
                found.append(
                    f"joint '{name}': gain {gain:.3g} is negative, a sign error of its torque or "
                    'position'
                )
            if not 1.0 / STRANGE < abs(gain) < STRANGE:
                found.append(
                    f"joint '{name}': gain {gain:.3g} is beyond the tolerance of a drive: check "
                    'its gear ratio and the unit of its torque'
                )
        return tuple(found)

    def lines(self) -> list[str]:
        """Return one line for each joint, with the half width of the 95 % interval."""
        rows = zip(self.joint_names, self.gains, self.deviations, self.total)
        return [
            f'{name}: {gain:.4g} +- {HALF * std:.2g} (total least squares {total:.4g})'
            for name, gain, std, total in rows
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        rows = zip(self.joint_names, self.gains, self.deviations, self.total, self.written)
        return {
            'schema': SCHEMA,
            'mass': self.mass,
            'gains': [
                {
                    'joint': name,
                    'value': float(gain),
                    'std': float(std),
                    'total_least_squares': finite_or_none(total),
                    'drive_gain': written,
                }
                for name, gain, std, total, written in rows
            ],
            'warnings': list(self.warnings),
        }

    def save(self, path: str | Path) -> None:
        """Write the JSON form to a file."""
        files.write_text(path, json.dumps(self.to_dict(), indent=1) + '\n')


@one_blas_thread()
def identify_drive_gains(
    robot: Robot,
    unloaded: Dataset,
    loaded: Dataset,
    mass: float,
    unknown: Sequence[Dataset] = (),
    attachment: Attachment | None = None,
    progress: Progress = silent,
) -> DriveGains:
    """
    Return the gains of all drives relative to the scale of the recorded torques.

    :param mass: of the load, weighed, kg; its centre and inertia need not be known.
    :param unknown: recordings with other loads, of which nothing need be known.
    :param attachment: where the loads hang; None for the last link.
    """
    if not (np.isfinite(mass) and mass > 0.0):
        raise OptionError(f'mass: {mass:g} must be above 0 kg', key='mass', value=mass)
    recordings = [data.select(robot.joint_names) for data in (unloaded, *unknown, loaded)]
    names = ['unloaded', *['unknown'] * len(unknown), 'loaded']
    refuse_same(list(zip(names, recordings)))
    place = attachment or last_link(robot)
    gains, total = np.ones(robot.n), np.ones(robot.n)
    for k in range(PASSES):
        progress(k / PASSES, 'processing the recordings')
        scaled = [_multiplied(data, gains) for data in recordings]
        rows = gain_rows(robot, scaled, mass, place)
        total = gains * total_gains(rows)
        inverse, std = _solve(rows, robot, mass)
        # g = 1 / k, so dg = dk / k^2.
        deviations = np.abs(gains) * std / inverse**2
        gains = gains / inverse
    progress(1.0, 'done')
    own = robot.drive_gains
    written = tuple(
        float(gain * own.get(name, 1.0)) if gain > 0.0 else None
        for name, gain in zip(robot.joint_names, gains)
    )
    return DriveGains(robot.joint_names, gains, deviations, total, float(mass), written)


def _multiplied(dataset: Dataset, gains: Array) -> Dataset:
    runs = tuple(replace(run, torque=run.torque * gains) for run in dataset.runs)
    return replace(dataset, runs=runs)


def _solve(rows: GainRows, robot: Robot, mass: float) -> tuple[Array, Array]:
    """Return k = 1 / g with deviations: Gauss-Newton from the linear solution."""
    names, n, width = robot.joint_names, robot.n, rows.X[0].shape[2]
    linear = solve(
        [np.concatenate([-X, per_joint(Y)], axis=2) for X, Y in zip(rows.X, rows.Y)],
        rows.F,
        deviations=False,
    )
    _refuse_undetermined(linear.determined[width:], names)
    x, g = linear.x[:width], linear.x[width:]
    k = 1.0 / np.where(np.abs(g) > 1e-6, g, 1e-6)
    for _ in range(ITERATIONS):
        J, rest = _linearised(rows, x, k)
        step = solve(J, rest, deviations=False).x
        x, k = x + step[:width], k + step[width:]
        if np.max(np.abs(step[width:])) < CONVERGED * np.max(np.abs(k)):
            break
    else:
        raise DataError('the gains do not converge: the load is too small, or the motion too poor')
    found = solve(*_linearised(rows, x, k), last=n)
    k = _of_a_body(x, k, found.covariance, found.determined, mass)
    std = np.sqrt(np.diag(found.covariance)[width:])
    for j in range(n):
        if not std[j] < LARGEST_DEVIATION * abs(k[j]):
            raise DataError(
                f"joint '{names[j]}': its gain is known to {100 * std[j] / abs(k[j]):.3g} % only: "
                'the known load is too small against the noise, take a heavier one or a longer '
                'motion',
                joint=names[j],
            )
    return k, std


def _linearised(rows: GainRows, x: Array, k: Array) -> tuple[list[Array], list[Array]]:
    """Return the rows of a Gauss-Newton step in (x, k), and what is left of the torques."""
    model = [X @ x + F for X, F in zip(rows.X, rows.F)]
    J = [
        np.concatenate([X * k[:, None], per_joint(torque)], axis=2)
        for X, torque in zip(rows.X, model)
    ]
    return J, [Y - torque * k for Y, torque in zip(rows.Y, model)]


def _of_a_body(
    x: Array, k: Array, covariance: Array, determined: NDArray[np.bool_], mass: float
) -> Array:
    """
    Return the k that go with the nearest physically consistent load of the known mass.

    Least squares under a constraint on the load p moves k by C_kp C_pp^-1 (p' - p).
    """
    width = len(x)
    place = np.arange(width - 9, width)
    known = determined[place]
    C = np.zeros((10, 10))
    C[:9, :9] = covariance[np.ix_(place, place)]
    C[9, 9] = (1e-6 * mass) ** 2
    p = np.append(x[place], mass)
    moved = (nearest_consistent(p, C, np.append(known, True)) - p)[:9][known]
    if not np.any(moved):
        return k
    C_pp, C_kp = C[:9, :9][np.ix_(known, known)], covariance[width:][:, place[known]]
    unit = np.sqrt(np.diag(C_pp))
    step = np.linalg.lstsq(C_pp / np.outer(unit, unit), moved / unit, rcond=1e-12)[0]
    return k + C_kp @ (step / unit)


def per_joint(values: Array) -> Array:
    """(M, n) -> (M, n, n) with the values on the diagonals."""
    return np.asarray(values[:, :, None] * np.eye(values.shape[1]))


def _refuse_undetermined(determined: NDArray[np.bool_], names: tuple[str, ...]) -> None:
    for name, known in zip(names, determined):
        if not known:
            raise DataError(
                f"joint '{name}': its gain is not determined by this motion: the load does not "
                'act on it, or it does not move',
                joint=name,
            )


__all__ = ['DriveGains', 'identify_drive_gains']
