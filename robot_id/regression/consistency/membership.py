"""
Whether base parameters are physically consistent: in every posture, not at a sample of them.

A standard set x with B x = chi exactly, every pseudo-inertia positive semidefinite and no drive
negative, shows M(q) > 0 in every posture: the kinetic energy is a sum of terms that are
never negative, and the first joint that moves has a term above zero, its own body's inertia along
its axis or its rotor's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError
from robot_id.regression.consistency.fit import Fitter
from robot_id.regression.consistency.pseudo_inertia import pseudo_inertia, smat, svec
from robot_id.robot import Robot

Array = NDArray[np.float64]
# How near to chi the consistent robot is searched, and what rounding may take from an eigenvalue.
_NEAR, _ROUNDING = 1e-5, 1e-9
# Steps onto chi, and how near to the border one may go.
_MOST_STEPS, _CLOSE = 60, 0.95


def consistent_standard(fitter: Fitter, chi: Array) -> Array | None:
    """
    (s,) standard parameters of a physically consistent robot with these base parameters; None:
    found none.

    :param fitter: of the robot.
    :param chi: (b,).
    """
    for x in _candidates(fitter, chi):
        if _exact(fitter.B, x, chi) and proves(fitter, x):
            return x
    return None


def proves(fitter: Fitter, x: Array) -> bool:
    """Return whether M(q) of standard parameters x (s,) is positive definite in every posture."""
    robot, drives = fitter.robot, fitter.constraints
    own = x[drives.drive_columns]
    if np.any(drives.drives @ own < -_ROUNDING * np.abs(own).max(initial=0.0)):
        return False
    rows = robot.standard.inertial_rows(x)
    P = pseudo_inertia(rows)
    size = np.sqrt(np.maximum(np.diagonal(P, axis1=1, axis2=2), 0.0))
    size = np.where(size > 0.0, size, 1.0)
    # Rows and columns in units of their diagonal: a body as small as a gram is judged alike.
    least = np.linalg.eigvalsh(P / size[:, :, None] / size[:, None, :])[:, 0]
    return bool(np.all(least >= -_ROUNDING) and np.all(own_inertia(robot, x, rows) > 0.0))


def own_inertia(robot: Robot, x: Array, rows: Array) -> Array:
    """
    (n,) inertia of every joint that moves alone, of the bodies it carries itself and its rotor.

    A rotor that turns with several joints counts where all rotors turn: then none can stand still.

    :param rows: (nb, 10) inertial parameters of the bodies.
    """
    kinematics = robot.kinematics
    u = kinematics.axis
    turning = (
        rows[:, 0] * u[:, 0] ** 2 + rows[:, 3] * u[:, 1] ** 2 + rows[:, 5] * u[:, 2] ** 2
        + 2.0 * (rows[:, 1] * u[:, 0] * u[:, 1] + rows[:, 2] * u[:, 0] * u[:, 2]
                 + rows[:, 4] * u[:, 1] * u[:, 2])
    )  # fmt: skip
    bodies = np.where(kinematics.prismatic, rows[:, 9], turning)
    named = dict(zip(robot.standard_names, x))
    held = {robot.standard_names[rotor] for rotor, _, _ in robot.direct_columns}
    shares = np.array([
        0.0 if (name := f'Ia{j + 1}') in held else named.get(name, 0.0) for j in range(robot.n)
    ])  # fmt: skip
    rotors = (2.0 * np.eye(robot.n) - robot.rotor_shares.T) @ shares
    alone = np.count_nonzero(robot.rotor_shares, axis=1) <= 1
    counts = alone | bool(np.all(rotors > 0.0))
    own = bodies[[kinematics.own_body(j) for j in range(robot.n)]]
    return np.asarray(own + np.where(counts, rotors, 0.0), float)


def _exact(B: Array, x: Array, chi: Array) -> bool:
    scale = max(float(np.abs(chi).max(initial=0.0)), 1e-300)
    return bool(np.allclose(B @ x, chi, rtol=1e-9, atol=1e-9 * scale))


def _candidates(fitter: Fitter, chi: Array) -> Iterator[Array]:
    """Yield sets near B x = chi: the file's bodies, drives alone, then the nearest robot."""
    robot, B = fitter.robot, fitter.B
    x = np.zeros(B.shape[1])
    x[robot.inertial_index] = robot.kinematics.inertia
    yield x
    columns = np.setdiff1d(np.arange(B.shape[1]), robot.inertial_index.ravel())
    x = np.zeros(B.shape[1])
    x[columns] = np.linalg.lstsq(B[:, columns], chi, rcond=None)[0]
    yield x
    sizes = np.zeros(B.shape[1])
    sizes[robot.inertial_index] = np.abs(fitter.prior.rows)
    scale = np.maximum(np.abs(chi), 1e-3 * (np.abs(B) @ sizes))
    scale = np.where(scale > 0.0, scale, max(float(scale.max(initial=0.0)), 1.0))
    try:
        near = fitter.project(chi, np.diag((_NEAR * scale) ** 2)).x
    except (IdentificationError, np.linalg.LinAlgError):
        return
    yield _onto(fitter, chi, near)


def _onto(fitter: Fitter, chi: Array, x: Array) -> Array:
    """
    Move a possible x onto B x = chi, through physically consistent ones, by Newton steps of the
    log-det form.

    In units of the barrier at x a step is min ||s - e||^2 with B T s = chi - B x, e the way to the
    centre; it is cut where it would leave the physically consistent set, and ends with the first
    full one.
    """
    robot, B = fitter.robot, fitter.B
    e = np.zeros(len(x))
    e[robot.inertial_index] = svec(np.eye(4))
    e[fitter.constraints.drive_columns] = 1.0
    for _ in range(_MOST_STEPS):
        try:
            T = fitter.local_units(x)
        except np.linalg.LinAlgError:
            return x
        A = B @ T
        s = e + np.linalg.lstsq(A, chi - B @ x - A @ e, rcond=None)[0]
        lowest = min(
            float(np.linalg.eigvalsh(smat(s[robot.inertial_index])).min(initial=0.0)),
            float(s[fitter.constraints.drive_columns].min(initial=0.0)),
        )
        share = min(1.0, _CLOSE / max(-lowest, 1e-300))
        x = x + share * (T @ s)
        if share == 1.0:
            break
    return x
