"""
Whether base parameters belong to a robot that can exist: a witness, not a sample of postures.

A standard set x with B x = chi exactly, every pseudo-inertia positive semidefinite and no drive
negative, is a witness: the kinetic energy of its bodies is positive in every posture, and so is
M(q).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError
from robot_id.regression.physical.fit import Fitter
from robot_id.regression.physical.pseudo_inertia import smallest_eigenvalues

Array = NDArray[np.float64]
# How near to chi the witness is looked for, and what rounding may take from an eigenvalue.
_NEAR, _ROUNDING = 1e-5, 1e-6


def witness(fitter: Fitter, chi: Array) -> Array | None:
    """
    (s,) standard parameters of a possible robot with these base parameters; None: found none.

    The nearest possible robot is moved onto B x = chi by the smallest step, and judged there.

    :param fitter: of the robot.
    :param chi: (b,).
    """
    robot, B = fitter.robot, fitter.B
    sizes = np.zeros(B.shape[1])
    sizes[robot.inertial_index] = np.abs(fitter.prior.rows)
    scale = np.maximum(np.abs(chi), 1e-3 * (np.abs(B) @ sizes))
    scale = np.where(scale > 0.0, scale, max(float(scale.max(initial=0.0)), 1.0))
    try:
        near = fitter.project(chi, np.diag((_NEAR * scale) ** 2)).x
    except (IdentificationError, np.linalg.LinAlgError):
        return None
    # Steps in units of what is there: a small parameter is not moved for a large one.
    units = np.abs(near) + 1e-9 * np.abs(near).max()
    x = near + units * np.linalg.lstsq(B * units, chi - B @ near, rcond=None)[0]
    drives = fitter.constraints.drives @ x[fitter.constraints.drive_columns]
    size = np.abs(x[fitter.constraints.drive_columns]).max(initial=1e-300)
    rows = robot.standard.inertial_rows(x)
    masses = rows[:, 9]
    possible = (
        np.allclose(B @ x, chi, rtol=1e-9, atol=1e-9 * float(scale.max(initial=0.0)))
        and np.all(masses > 0.0)
        and np.all(smallest_eigenvalues(rows) >= -_ROUNDING * masses)
        and np.all(drives >= -_ROUNDING * size)
    )
    return x if possible else None
