"""What the methods share that simulate the closed loop: options, start, step control, result."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.processing import Processing
from robot_id.dynamics import Controller, Simulation, positive_on_motion
from robot_id.estimation.loop_problem import LoopProblem
from robot_id.estimation.outcome import Outcome, assemble
from robot_id.estimation.result import Result
from robot_id.exceptions import IdentificationError, OptionError, SimulationError
from robot_id.model import Robot
from robot_id.progress import Progress, silent
from robot_id.ranges import Range, Slope, Tolerance, check
from robot_id.regression.prediction import predict
from robot_id.regression.residuals import warn_if_correlated, whiteness
from robot_id.regression.sampling import States, resolve

Array = NDArray[np.float64]
SHORTEST_STEP = 2.0**-10
# Periods of the simulated loop in a sample of the data: beyond it a simulation takes for ever.
FASTEST_LOOP = 200.0
# Steps this short (of the full one) lead nowhere within the iterations there are.
SHORT_STEP, MOST_SHORT_STEPS = 1.0 / 32.0, 4
# Data without noise: a residual this small relative to the data leaves nothing to explain.
EXACT = 1e-8


@dataclass(frozen=True)
class LoopMethod(ABC):
    """
    Options of all methods that simulate the closed loop.

    :param processing: how torques and rows are decimated (and measured positions filtered).
    :param loop: which loop of the robot file is simulated.
    :param start: 'regular' (0 but a unit inertia per joint), 'a_priori' (the robot file's values),
        or the path of a result (.json).
    :param friction: Coulomb friction in the rows of W: as in the simulated plant, or sign(dq).
    :param coulomb_slope: alpha of 2/pi atan(alpha dq) in the plant; none: the robot file's.
    :param bandwidth_factor: scale of the simulated loop's bandwidth (section 4.5 of paper 000).
    :param iterations: the most iterations.
    :param tolerance: converged when the residual changes by less than this, relative to itself ...
    :param settled: ... and no parameter by more than this many of its deviations.
    """

    name: ClassVar[str] = ''

    processing: Processing = field(default_factory=Processing)
    loop: str = 'default'
    start: str = 'regular'
    friction: Literal['simulated', 'sign'] = 'simulated'
    coulomb_slope: Slope | None = None
    bandwidth_factor: Annotated[float, Range(1e-3, 1e3)] = 1.0
    iterations: Annotated[int, Range(1, 1000)] = 20
    tolerance: Tolerance = 0.01
    settled: Tolerance = 0.5

    def __post_init__(self) -> None:
        check(self)

    @abstractmethod
    def solve(self, problem: LoopProblem, start: Array, progress: Progress) -> Outcome:
        """Find the parameters."""

    def estimate(self, robot: Robot, dataset: Dataset, progress: Progress = silent) -> Result:
        """
        Identify the base parameters of a robot.

        :param dataset: measurements with at least the robot's joints, in any order.
        :param progress: called with the fraction done.
        """
        started = time.perf_counter()
        dataset = dataset.select(robot.joint_names)
        processing = resolve(self.processing, dataset, robot)
        loop = robot.loop(self.loop)
        if loop.rate_hz > FASTEST_LOOP * dataset.rate:
            raise IdentificationError(
                f"the data have {dataset.rate:.3g} samples a second, the loop '{self.loop}' "
                f"{loop.rate_hz:.4g}: is the unit of time right? Else name another 'loop'"
            )
        slope = (
            self.coulomb_slope
            or robot.description.identification_slope
            or robot.description.coulomb_slope
        )
        problem = LoopProblem(
            robot,
            dataset,
            processing,
            loop,
            slope,
            slope if self.friction == 'simulated' else None,
            self.bandwidth_factor,
        )
        found = self.solve(problem, self.starting_point(robot), progress)
        judged = [whiteness([residual]) for residual in found.residuals or ()]
        found = replace(
            found,
            torques=np.array([np.linalg.norm(Y) for Y in problem.joint_rows(problem.torque)]),
            iterations=len(found.history),
            simulations=problem.simulations,
            options={'coulomb_slope': slope},
            warnings=problem.warnings + warn_if_correlated(judged, robot.joint_names),
            extras={'equations': int(problem.used.sum()), **found.extras},
        )
        prediction = predict(robot, found.chi, dataset, processing, slope)
        progress(1.0, 'done')
        return assemble(self, robot, dataset, processing, found, prediction, started)

    def starting_point(self, robot: Robot) -> Array:
        """(b,) where the iterations start."""
        if self.start == 'regular':
            return robot.regular_start()
        if self.start == 'a_priori':
            return robot.a_priori()
        if not Path(self.start).suffix:
            raise OptionError(f"start: '{self.start}' is none of regular, a_priori, a .json file")
        result = Result.load(self.start)
        if set(result.names) != set(robot.base.names):
            raise OptionError(
                f"start: {self.start} holds parameters of '{result.robot}', not of '{robot.name}'"
            )
        return np.array([result[name] for name in robot.base.names])


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
        problem.warnings += (f'the reference stands in for the start ({error})',)
        return problem.reference_states()


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
    step = 1.0
    motions = [r.reference.position for r in problem.runs]
    while step >= SHORTEST_STEP:
        candidate = chi + step * (proposal - chi)
        if positive_on_motion(problem.robot, candidate, motions):
            try:
                return candidate, problem.simulate(candidate, controller), step
            except SimulationError:
                pass
        step *= 0.5
    raise IdentificationError(
        'no step from the last estimate keeps M(q) positive definite along the motion: the data '
        'do not fit the model (check units, gear signs, the loop and its bandwidth)'
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
                'positive definite: the data do not fit the model (check units, the sign of the '
                'torques, the loop and its bandwidth)'
            )


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
