"""Direct dynamics ddq = M(q)^-1 (tau - N(q, dq)) from base parameters."""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.kernels.models import direct_kernel
from robot_id.dynamics.kernels.tree import split_parameters, tree_of
from robot_id.dynamics.states import Array, as_states, slope_value
from robot_id.exceptions import SimulationError
from robot_id.robot import Robot


def direct_dynamics(
    robot: Robot, chi: Array, q: Array, dq: Array, tau: Array, coulomb_slope: float | None = None
) -> Array:
    """
    Return the accelerations under the torques tau, (N, n) or (n,).

    :param chi: (b,) base parameters; SimulationError where M(q) is not positive definite.
    """
    single, (Q, DQ, T) = as_states(robot, q, dq, tau)
    inertia, values = split_parameters(robot, chi)
    DDQ, slope = np.empty_like(Q), slope_value(coulomb_slope)
    code = code_for(robot, 'direct_dynamics', slope, len(Q))
    if code is None:
        failed = direct_kernel(tree_of(robot), inertia, values, Q, DQ, T, slope, DDQ)
    else:
        failed = code(chi, slope, (Q, DQ, T), (DDQ,))
    if failed >= 0:
        raise SimulationError(
            f'{robot.name}: M(q) is not positive definite at sample {failed}, q = '
            f'{np.array2string(Q[failed], precision=3)}',
            code='not_positive_definite',
        )
    return DDQ[0] if single else DDQ
