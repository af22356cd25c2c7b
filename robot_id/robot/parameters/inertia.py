"""
The ten inertial parameters of a body, [XX XY XZ YY YZ ZZ MX MY MZ M], and pinocchio's form.

The tensor and the first moment are taken at the origin of the body frame, so all ten are linear in
the torques: I_origin = I_centre + m (c.c E - c c^T), [MX MY MZ] = m c.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError

Array = NDArray[np.float64]
INERTIAL = ('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ', 'MX', 'MY', 'MZ', 'M')

# pinocchio orders [M MX MY MZ XX XY YY XZ YZ ZZ]; ours is [XX XY XZ YY YZ ZZ MX MY MZ M].
FROM_PINOCCHIO = np.array([4, 5, 7, 6, 8, 9, 1, 2, 3, 0])
TO_PINOCCHIO = np.argsort(FROM_PINOCCHIO)


def inertia_row(inertia: pin.Inertia) -> Array:
    """Return the 10 parameters of a pinocchio inertia at the origin of its frame."""
    return np.asarray(inertia.toDynamicParameters())[FROM_PINOCCHIO]


def pinocchio_inertia(row: Array) -> pin.Inertia:
    """
    Return a pinocchio inertia from our 10 parameters, also of an estimate that is not a possible
    body.

    pinocchio stores the centre of mass, so only a body that is zero throughout may have no mass.
    """
    if row[9] == 0.0:
        if np.any(row):
            raise DescriptionError('a body with inertia but no mass has no pinocchio form')
        return pin.Inertia.Zero()
    return pin.Inertia.FromDynamicParameters(row[TO_PINOCCHIO])
