"""
The gains of all drives at once, from recordings without and with a load of known mass.

Recorded torques y_j are wrong by a factor: g_j y_j = W_j chi without, W_j chi + W_j G p with a
load. All of it can be scaled, but for the mass in p, which is known and sets the scale. The noise
is in y, so that y_j = k_j (W_j chi + W_j G p), k_j = 1 / g_j, is solved for k, chi and the rest of
p (separable least squares), with p a possible body. The linear form, which has y among its
columns, is the start, and its total least squares solution is given beside it (Gautier and Briot
2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError, OptionError
from robot_id.experiment.gain_result import DriveGains
from robot_id.experiment.gain_rows import GainRows, gain_rows, total_gains
from robot_id.experiment.payload.attachment import Attachment, last_link
from robot_id.experiment.payload.distinct import refuse_same
from robot_id.experiment.payload.possible import nearest_possible
from robot_id.experiment.payload.solution import solve
from robot_id.model import Robot
from robot_id.progress import Progress, silent

Array = NDArray[np.float64]
# A deviation beyond this share of a gain: the load is too small to determine it.
LARGEST_DEVIATION = 0.2
ITERATIONS, CONVERGED = 50, 1e-9
# Filters, dead band and time offset are derived from data with right gains in the last pass.
PASSES = 2


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
    options = ['--unloaded', *['--unknown'] * len(unknown), '--loaded']
    refuse_same(list(zip(options, recordings)))
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
    Return the k that go with the nearest possible load of the known mass.

    Least squares under a constraint on the load p moves k by C_kp C_pp^-1 (p' - p).
    """
    width = len(x)
    place = np.arange(width - 9, width)
    known = determined[place]
    C = np.zeros((10, 10))
    C[:9, :9] = covariance[np.ix_(place, place)]
    C[9, 9] = (1e-6 * mass) ** 2
    p = np.append(x[place], mass)
    moved = (nearest_possible(p, C, np.append(known, True)) - p)[:9][known]
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
