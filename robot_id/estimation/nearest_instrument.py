"""The instrument of IDIM-IV where the estimate itself has no direct model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from robot_id.estimation.admissible import nearest_possible
from robot_id.estimation.loop_problem import LoopProblem
from robot_id.estimation.loop_reference import reference_states
from robot_id.estimation.outcome import UNEXPLAINED_PERCENT
from robot_id.exceptions import IdentificationError, SimulationError
from robot_id.regression.sampling import States

Array = NDArray[np.float64]


def nearest_motions(
    problem: LoopProblem,
    free: Array,
    covariance: Array,
    W: Sequence[Array],
    Y: Sequence[Array],
) -> list[list[States]]:
    """
    Return motions for the instruments: of the possible robot nearest to an estimate, and its goal.

    IV is consistent with any instrument that goes with the regressor and not with the noise
    (chi = (V' W)^-1 V' Y, V' noise -> 0), so V need not be made with the estimate. A robot with
    next to no inertia may tremble in its loop, or not be held by it; the reference does neither.

    :param free: (b,) the estimate, (b, b) its covariance: the metric of 'nearest'.
    :param W: (r_j, b) rows of every joint, Y (r_j,) its torques.
    :returns: none where no possible robot explains the torques: then the data are to blame.
    """
    near = nearest_possible(problem.robot, free, covariance)
    if near is None:
        return []
    left = sum(float(np.sum((y - w @ near) ** 2)) for w, y in zip(W, Y))
    if not left < (0.01 * UNEXPLAINED_PERCENT) ** 2 * sum(float(y @ y) for y in Y):
        return []
    motions = [reference_states(problem.runs)]
    with suppress(SimulationError, IdentificationError):
        motions.append(problem.states(problem.simulate(near)))
    return motions
