"""
Shared by the IDIM methods: from measurements to W and Y, and from a solution to a Result.

The inverse dynamic identification model tau = IDM(q, dq, ddq) chi is sampled along the motion,
Y = W chi + rho, and solved for chi. The methods differ in how they weigh and solve.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.blas_threads import one_blas_thread
from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.exceptions import IdentificationError
from robot_id.methods.consistency import Consistent
from robot_id.methods.outcome import Deviations, Outcome, assemble
from robot_id.methods.result import Iteration, Result
from robot_id.progress import Progress, part_of, silent
from robot_id.ranges import Range, Slope, check
from robot_id.regression.consistency.constraint import Physical, physical_constraint
from robot_id.regression.preprocessing.resolve import Resolved, resolve
from robot_id.regression.rows.observation import Observation
from robot_id.regression.rows.sampling import long_enough
from robot_id.regression.solvers.attenuation import attenuation
from robot_id.regression.solvers.least_squares import Solution, deficiency, solve
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import JointFactors
from robot_id.regression.uncertainty.residuals import Whiteness, judge, warn_if_correlated
from robot_id.regression.uncertainty.standard_errors import joint_covariance, observed_covariance
from robot_id.robot import Robot

Array = NDArray[np.float64]


def consistent_fit(
    method: Idim,
    fit: Fit,
    observation: Observation,
    system: System,
    physical: Physical,
    inflation: Array,
) -> tuple[Fit, Consistent]:
    """
    Return the fit with a physically consistent robot, and that robot with the estimate it was
    nearest to.

    Deviations are those of the estimate without constraints. The test always takes them with
    the residual's autocorrelation, corrected or not.

    :param method: that made the fit.
    :param inflation: (n,) variance inflation by the autocorrelation of each joint's residual.
    """
    factors, solution = system.factors, fit.solution
    if not method.linear:
        fit = method.state_deviations(fit, observation, system)
        found = physical.fitter.project(solution.chi, fit.solution.covariance)
        consistent = Consistent(found, solution.chi, fit.solution.covariance)
        return replace(fit, solution=replace(fit.solution, chi=found.chi)), consistent
    free = solve(fit.R, system.rows, factors.names, system.kept)
    fit = replace(fit, solution=replace(solution, chi=free.chi))
    fit = method.state_deviations(fit, observation, system)
    covariance = fit.solution.covariance
    if method.deviations == 'classical' and fit.weights is not None and fit.noise is not None:
        noise = fit.noise * np.sqrt(inflation)
        covariance = joint_covariance(factors, solution.kept, fit.weights, noise)
    found = physical.fitter.project(free.chi, covariance)
    consistent = Consistent(found, free.chi, covariance)
    return replace(fit, solution=replace(fit.solution, chi=found.chi)), consistent


@dataclass(frozen=True)
class Fit:
    """
    The solution of a method before it is judged.

    :param solution: the solution.
    :param R: (b + 1, b + 1) factor it was solved from, weights included.
    :param weights: (n,) weight of each joint; None when the covariance of the solution is final.
    :param noise: (n,) standard deviation of each joint's noise, from which the covariance follows.
    :param extras: values of this method only.
    :param iterations: how many it took.
    :param history: the iterations.
    :param converged: whether they converged.
    """

    solution: Solution
    R: Array
    weights: Array | None = None
    noise: Array | None = None
    extras: dict[str, Any] = field(default_factory=dict)
    iterations: int = 1
    history: tuple[Iteration, ...] = ()
    converged: bool = True


@dataclass(frozen=True)
class Idim(ABC):
    """
    Options of all IDIM methods.

    :param processing: how the measurements are filtered, differentiated and decimated.
    :param coulomb_slope: alpha of the smooth friction 2/pi atan(alpha dq); none means sign(dq);
        auto: sign(dq) or the robot file's slope, whichever explains the data better.
    :param unexcited: refuse data that leave parameters unexcited, or drop these parameters.
    :param memory_mb: keep the rows of W up to this size, beyond it compute them again when needed.
    :param physical: only physically consistent parameters, with standard parameters.
    :param deviations: 'robust': from the residual as it is, correlated in time and between the
        joints; 'bootstrap': from randomly resampled blocks of rows; 'classical': as if it were
        white noise.
    :param reversals: 'project_out': W and Y lose what lies along the response of the row filter to
        an impulse where a joint turns, since friction is not known there (where the rows fit into
        memory_mb); 'keep': as it is.
    :param correct_attenuation: correct the attenuation of the estimate by noise of the positions
        in W (where the rows fit into memory_mb).
    """

    name: ClassVar[str] = ''
    # Solves a linear system, with or without constraints.
    linear: ClassVar[bool] = True
    # Whether the estimate is plain least squares with one weight for each joint.
    least_squares: ClassVar[bool] = True
    # Whether it takes W as exact, so that noise in it attenuates.
    takes_motion_as_exact: ClassVar[bool] = True

    processing: Processing = field(default_factory=Processing)
    coulomb_slope: Slope | Literal['auto'] | None = 'auto'
    unexcited: Literal['refuse', 'drop'] = 'refuse'
    memory_mb: Annotated[float, Range(0.0, 1e7)] = 256.0
    physical: bool = False
    deviations: Deviations = 'robust'
    reversals: Literal['project_out', 'keep'] = 'project_out'
    correct_attenuation: bool = True

    def __post_init__(self) -> None:
        check(self)

    @abstractmethod
    def fit(self, observation: Observation, system: System, progress: Progress) -> Fit:
        """Solve for the kept parameters of the system."""

    def finish(self, fit: Fit, system: System, inflation: Array) -> Fit:
        """
        Select essential parameters and state the deviations, where a method can.

        :param inflation: (n,) variance inflation by the autocorrelation of each joint's residual.
        """
        return fit

    @one_blas_thread()
    def estimate(self, robot: Robot, dataset: Dataset, progress: Progress = silent) -> Result:
        """
        Identify the base parameters of a robot.

        :param robot: the Robot.
        :param dataset: measurements with at least the robot's joints, in any order.
        :param progress: called with the fraction done.
        """
        started = time.perf_counter()
        physical = physical_constraint(robot) if self.physical else None
        dataset = dataset.select(robot.joint_names)
        resolved = resolve(robot, dataset, self.coulomb_slope, self.processing)
        rows, slope = resolved.processing, resolved.slope
        observation = self._observed(robot, dataset, resolved)
        factors = observation.factors(part_of(progress, 0.0, 0.6, 'observation matrix'))
        kept, warnings = self._excited(factors, dataset, rows)
        system = System(factors, kept, physical)
        fit = self.fit(observation, system, part_of(progress, 0.6, 0.9, self.name))
        report = part_of(progress, 0.9, 1.0, 'residual')
        prediction = observation.predict(fit.solution.chi, report)
        judged = judge(prediction)
        solved = fit.solution
        inflation = np.array([w.inflation for w in judged])
        fit, consistent = self.finish(fit, system, inflation), None
        if physical is None:
            fit = self._corrected(self.state_deviations(fit, observation, system), observation)
        else:
            fit, consistent = consistent_fit(self, fit, observation, system, physical, inflation)
        if not np.array_equal(fit.solution.chi, solved.chi):
            prediction = observation.predict(fit.solution.chi, report)
        progress(1.0, 'done')
        found = Outcome(
            fit.solution.chi,
            fit.solution.covariance,
            fit.solution.condition_number,
            fit.solution.kept,
            iterations=fit.iterations,
            history=fit.history,
            converged=fit.converged,
            options={'coulomb_slope': slope},
            warnings=(
                *long_enough(dataset, rows)[1],
                *observation.warnings,
                *warnings,
                *self.whiteness_warnings(judged, robot.joint_names),
            ),
            extras={
                'equations': system.rows,
                'equations_per_joint': [int(r) for r in factors.rows],
                'residual': {
                    'lag_1': [w.lag_1 for w in judged],
                    'ljung_box_p': [w.ljung_box_p for w in judged],
                    'deviation_factor': [w.factor for w in judged],
                },
                **fit.extras,
            },
            consistent=consistent,
        )
        return assemble(self, robot, dataset, resolved.derived, found, prediction, started)

    def _observed(self, robot: Robot, dataset: Dataset, resolved: Resolved) -> Observation:
        free, slope = self.reversals == 'project_out', resolved.slope
        made = Observation(robot, dataset, resolved.processing, slope, self.memory_mb, free)
        made.offset_std, made.reversals.fine = resolved.offset_std, resolved.fine
        return made

    def state_deviations(self, fit: Fit, observation: Observation, system: System) -> Fit:
        """
        Widen or narrow the classical covariance to that of the residual as it is.

        The factor comes from the weighted least squares of the joints; methods that solve just
        that use its covariance directly.
        """
        if self.deviations == 'classical':
            return fit
        weights = np.ones(observation.n) if fit.weights is None else fit.weights
        solution = fit.solution
        robust = observed_covariance(
            observation, solution.chi, solution.kept, weights, self.deviations == 'bootstrap'
        )
        if robust is None:
            return fit
        if not self.least_squares:
            noise = np.ones(observation.n) if fit.noise is None else fit.noise
            plain = joint_covariance(system.factors, solution.kept, weights, noise)
            ratio = np.sqrt(np.diag(robust) / np.diag(plain))
            robust = solution.covariance * np.outer(ratio, ratio)
        return replace(fit, solution=replace(solution, covariance=robust))

    def _corrected(self, fit: Fit, observation: Observation) -> Fit:
        """Correct the attenuation of the estimate by the noise of the positions in W."""
        if not self.correct_attenuation or not self.takes_motion_as_exact:
            return fit
        solution = fit.solution
        deviations = np.sqrt(np.diag(solution.covariance))

        def solve(noisy: Observation) -> Array:
            return self.fit(noisy, System(noisy.factors(), solution.kept), silent).solution.chi

        relative = deviations / np.maximum(np.abs(solution.chi), 1e-300)
        lost = attenuation(observation, solution.chi, float(np.nanmin(relative)), solve)
        if lost is None:
            return fit
        share = np.where(deviations > 0.0, lost / deviations, 0.0)
        extras = fit.extras | {'attenuation': share.tolist()}
        return replace(fit, solution=replace(solution, chi=solution.chi - lost), extras=extras)

    def whiteness_warnings(
        self, judged: list[Whiteness], joint_names: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the warnings about the residual if the deviations assume white noise."""
        return warn_if_correlated(judged, joint_names) if self.deviations == 'classical' else ()

    def _excited(
        self, factors: JointFactors, dataset: Dataset, processing: Processing
    ) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
        """Return which parameters the motion excites; refuse or warn when some are missing."""
        rows, b = int(factors.rows.sum()), len(factors.names)
        if rows <= b:
            raise IdentificationError(
                f'{rows} equations are left for {b} parameters: record more motion, decimate less '
                'or narrow the rest band',
                code='too_few_equations',
                value=rows,
                bound=b,
            )
        lacking = deficiency(factors.stack(), factors.names)
        kept = np.array([name not in lacking.names for name in factors.names])
        if not lacking:
            return kept, ()
        still = [name for name, r in zip(dataset.joint_names, factors.rows) if r == 0]
        rest = f'{", ".join(still)} at rest throughout: ' if still else ''
        if self.unexcited == 'refuse' or not kept.any():
            # The name of the method: others that begin with this fit have no such option.
            raise IdentificationError(
                f'{rest}{lacking}: record a richer motion, or leave them out: '
                f'method {self.name}, unexcited=drop',
                code='not_identifiable',
                value=lacking.names,
            )
        return kept, (f'{lacking}; left out: {", ".join(lacking.names)}',)
