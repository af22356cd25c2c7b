"""Checks of the arguments of all functions of this room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.robot import Robot

Array = NDArray[np.float64]


def as_states(robot: Robot, *arrays: Array) -> tuple[bool, list[Array]]:
    """Return whether a single state was given, and all arrays as contiguous (N, n)."""
    single = np.ndim(arrays[0]) == 1
    out = [np.ascontiguousarray(np.atleast_2d(np.asarray(x, float))) for x in arrays]
    shape = out[0].shape
    if shape[1] != robot.n or any(x.shape != shape for x in out):
        shapes = ', '.join(str(np.shape(x)) for x in arrays)
        raise ValueError(f'{robot.name}: states of shape {shapes}, expected (N, {robot.n})')
    return single, out


def slope_value(coulomb_slope: float | None) -> float:
    """Return the slope for the kernels: 0 stands for sign(dq)."""
    return 0.0 if coulomb_slope is None else float(coulomb_slope)
