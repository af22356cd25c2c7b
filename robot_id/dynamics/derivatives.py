"""Analytic derivatives of the inverse model by q and dq, with the slope of the friction."""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.kernels.models import derivatives_kernel
from robot_id.dynamics.kernels.tree import split_parameters, tree_of
from robot_id.dynamics.states import Array, as_states, slope_value
from robot_id.robot import Robot


def derivatives(
    robot: Robot, chi: Array, q: Array, dq: Array, ddq: Array, coulomb_slope: float | None = None
) -> tuple[Array, Array, Array]:
    """
    Return d tau/d q, d tau/d dq and d tau/d ddq, (N, n, n) each or (n, n) for a single state.

    The last is M(q), but for friction that grows with the load, which scales its rows. With it,
    d ddq/d q = -(d tau/d ddq)^-1 d tau/d q, and likewise for dq. The slope of sign(dq) is zero.

    :param chi: (b,) base parameters, also those that no robot can have.
    """
    single, states = as_states(robot, q, dq, ddq)
    parts = tuple(np.empty((len(states[0]), robot.n, robot.n)) for _ in range(3))
    inertia, values = split_parameters(robot, chi)
    slope = slope_value(coulomb_slope)
    code = code_for(robot, 'derivatives', slope, len(states[0]))
    if code is None:
        derivatives_kernel(tree_of(robot), inertia, values, *states, slope, *parts)
    else:
        code(chi, slope, tuple(states), parts)
    by_q, by_dq, M = (part[0] for part in parts) if single else parts
    return by_q, by_dq, M
