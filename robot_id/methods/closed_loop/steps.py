"""Steps from one estimate to the next that the closed loop can be simulated with; the stop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics import Controller, Simulation
from robot_id.exceptions import IdentificationError, OutOfTimeError, SimulationError
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.methods.closed_loop.reference import reference_states
from robot_id.regression.rows.sampling import States

Array = NDArray[np.float64]
SHORTEST_STEP = 2.0**-10
# Steps this short (of the full one) lead nowhere within the iterations there are.
SHORT_STEP, MOST_SHORT_STEPS = 1.0 / 32.0, 4
# A step takes the last one back where it is this much of it, and this much against it.
BACK = 0.7
# Data that idim_wls explains are not to blame: inertias of light joints are lost in noise.
WAY_OUT = (
    'if idim_wls explains the data well, some inertias are too small to identify (light wrists, '
    'torque sensors behind the gears): use idim_wls with physical=true, or give a start or a '
    'loop; if not, robot-id check looks for the mistake'
)
# Data without noise: a residual this small relative to the data leaves nothing to explain.
EXACT = 1e-8


def first_simulation(
    problem: LoopProblem, chi: Array, controller: Controller | None = None
) -> list[Simulation]:
    """Simulate the start; when it cannot be, say what to do."""
    try:
        return problem.simulate(chi, controller)
    except SimulationError as error:
        raise IdentificationError(
            f'the start cannot be simulated ({error}): give another start or another loop'
        ) from error


def first_motion(problem: LoopProblem, chi: Array) -> list[States]:
    """
    Return the motion that the first iteration starts from.

    It is the simulation of the start, or, when a loop tuned for other inertias cannot hold it, the
    reference itself: eq. 35 of paper 000 takes the two for equal.
    """
    try:
        return problem.states(problem.simulate(chi))
    except SimulationError as error:
        problem.warnings += (f'start not simulated ({error}): the reference replaces it',)
        return reference_states(problem.runs)


def best_so_far(problem: LoopProblem, iterations: int, error: OutOfTimeError) -> None:
    """
    Note that the time limit ended the iterations with what they had.

    :raises OutOfTimeError: where they had nothing, or a rigid loop gives a whole answer.
    """
    if not iterations or problem.rigid is not None:
        raise error
    problem.warnings += (
        f'stopped by time_limit_s ({problem.time_limit_s:g} s) after {iterations} iterations: '
        'this is the best so far; use idim_wls, raise time_limit_s or give a better start',
    )


def careful_step(
    problem: LoopProblem,
    chi: Array,
    proposal: Array,
    controller: Controller | None = None,
) -> tuple[Array, list[Simulation], float]:
    """
    Go from chi towards the proposal as far as M(q) stays positive and the loop can be simulated.

    The parameters with M(q) > 0 along the motion form a convex cone, so a short enough step from
    an admissible chi is admissible too.
    """
    step, why = 1.0, ''
    while step >= SHORTEST_STEP:
        candidate = chi + step * (proposal - chi)
        if problem.allows(candidate):
            try:
                return candidate, problem.simulate(candidate, controller), step
            except SimulationError as error:
                why = f' ({error})'
        step *= 0.5
    raise IdentificationError(
        'no step from the last estimate keeps M(q) positive definite along the motion and can be '
        f'simulated{why}: {WAY_OUT}'
    )


class ShortSteps:
    """
    Gives up on an iteration that only creeps: data that no admissible parameters explain.

    Torques of the wrong sign or times in another unit pull every proposal out of the cone of
    positive M(q), so each step is cut to almost nothing, and the iterations would all be spent.
    """

    def __init__(self) -> None:
        self._count = 0

    def note(self, step: float) -> None:
        """
        Take the length of an accepted step.

        :raises IdentificationError: after four short ones in a row.
        """
        self._count = self._count + 1 if step <= SHORT_STEP else 0
        if self._count >= MOST_SHORT_STEPS:
            raise IdentificationError(
                f'{self._count} steps in a row were cut to {SHORT_STEP:.2g} or less to keep M(q) '
                f'positive definite: {WAY_OUT}'
            )


class Relaxation:
    """
    Shortens the steps of an iteration that only goes back and forth.

    Gauss-Newton steps with a large residual may lead from one point to another and back for ever,
    with the minimum between them: a step that takes back most of the last one halves all that
    follow.
    """

    def __init__(self) -> None:
        self.share = 1.0
        self._last: Array | None = None

    def shortened(self, chi: Array, proposal: Array, covariance: Array) -> Array:
        """
        Return the point on the way from chi to the proposal that is to be tried.

        :param covariance: (b, b) of the proposal; steps are compared in its deviations.
        """
        unit = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
        step = (proposal - chi) / unit
        if self._last is not None:
            size = float(np.linalg.norm(step) * np.linalg.norm(self._last))
            taken_back = np.linalg.norm(step) > BACK * np.linalg.norm(self._last)
            if taken_back and float(step @ self._last) < -BACK * size:
                self.share *= 0.5
        self._last = self.share * step
        return chi + self.share * (proposal - chi)


def relative_error(residuals: Sequence[Array], torques: Sequence[Array]) -> float:
    """Return ||rho|| / ||Y|| over all joints."""
    rho = np.sqrt(sum(float(r @ r) for r in residuals))
    return rho / np.sqrt(sum(float(y @ y) for y in torques))


def is_steady(last: float, error: float, tolerance: float) -> bool:
    """Return whether a relative error changes no more, or is down at the rounding."""
    return error <= EXACT or abs(last - error) <= tolerance * last


def has_settled(change: Array, covariance: Array, limit: float, value: Array) -> bool:
    """Return whether no parameter moved by more than `limit` deviations (or by rounding)."""
    floor = 1e-6 * np.abs(value).max()
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return bool(np.all(np.abs(change) <= np.maximum(limit * deviation, floor)))
