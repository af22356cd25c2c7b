"""Methods whose simulated gains follow the estimate, with a loop that is estimated along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError, RobotIdError, SimulationError
from robot_id.methods.closed_loop.consistent import consistent_start
from robot_id.methods.closed_loop.loop_fit import LoopFit, can_fit, fit_loop, words
from robot_id.methods.closed_loop.method import LoopMethod, rigid_statement
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.methods.outcome import Outcome
from robot_id.methods.result import Result
from robot_id.progress import Progress, attempts
from robot_id.regression.uncertainty.disagreement import bias_covariance

Array = NDArray[np.float64]
# The loop for the parameters, the parameters for the loop: they hardly depend on each other.
ROUNDS = 3


@dataclass(frozen=True)
class EstimatedLoopMethod(LoopMethod):
    """
    Options of the methods that need the loop of the robot and can do with less.

    :param fit_loop: bandwidth, damping and delay of the simulated loop: 'auto' estimates them from
        the recorded positions where the given ones contradict these, 'always' in any case, 'never'
        takes the given ones and warns. Without a recorded reference only 'never' simulates the
        loop of the robot file, else a stiff one takes its place.
    """

    fit_loop: Literal['auto', 'always', 'never'] = 'auto'

    @property
    def keeps_loop(self) -> bool:
        """
        Whether the loop of the robot file is simulated also without a reference.

        It would follow the recorded position, late once more; gains that follow the estimate need
        no loop of the robot, and a stiff one moves the model as the robot moved.
        """
        return self.fit_loop == 'never'

    def solved(
        self, problem: LoopProblem, start: Array, known: bool, progress: Progress
    ) -> tuple[LoopProblem, Outcome]:
        """Solve with the given loop, see whether it moves as the robot did, else estimate it."""
        # A bandwidth that is scaled on purpose (section 4.5 of paper 000) is meant.
        tries = attempts(progress)
        if self.bandwidth_factor != 1.0 or not can_fit(problem, start):
            try:
                return problem, self.solve(problem, start, next(tries))
            except IdentificationError:
                last = self.fallback(problem, start, next(tries))
                if last is None:
                    raise
                return last
        given, found = None, None
        failure: IdentificationError | None = None
        if self.fit_loop == 'never' or (known and self.fit_loop == 'auto'):
            try:
                given = self.solve(problem, start, next(tries))
            except IdentificationError as error:
                failure = error
            if given is not None and _agrees(problem, given):
                return problem, given
        if self.fit_loop != 'never':
            found = self._estimated(problem, known, tries)
            if found is not None and (found[1].converged or given is not None):
                return found
        if given is not None:
            problem.warnings += (
                'the loop in the robot file does not reproduce the recorded positions: if it is '
                'wrong, so are the parameters and their standard deviations; correct it, or set '
                'fit_loop=auto',
            )
            return problem, replace(given, extras={**given.extras, 'loop_contradicted': True})
        return self._fallback(problem, start, tries, found, failure)

    def _fallback(
        self,
        problem: LoopProblem,
        start: Array,
        tries: Iterator[Progress],
        found: tuple[LoopProblem, Outcome] | None,
        failure: IdentificationError | None,
    ) -> tuple[LoopProblem, Outcome]:
        """
        Return the best there is where no loop led to an end.

        :param found: with an estimated loop, not converged; None where there was none.
        :param failure: with the given loop; None where it was not tried.
        """
        if failure is None and found is None:
            try:
                return problem, self.solve(problem, start, next(tries))
            except IdentificationError as error:
                failure = error
        best = self.fallback(problem, start, next(tries)) or found
        if best is None:
            assert failure is not None
            raise failure
        return best

    def fallback(
        self, problem: LoopProblem, start: Array, progress: Progress
    ) -> tuple[LoopProblem, Outcome] | None:
        """Return what a rigid loop finds where the assumed one leads nowhere; else None."""
        rigid = problem.rigid
        if rigid is None:
            return None
        why = 'leads to no estimate (inertias or frictions too small to tell from zero)'
        rigid.warnings += (rigid_statement(why),)
        return rigid, self.solve(rigid, start, progress)

    def _estimated(
        self, problem: LoopProblem, known: bool, tries: Iterator[Progress]
    ) -> tuple[LoopProblem, Outcome] | None:
        """Return what was found with a loop that is estimated; None where none can be."""
        try:
            wls, chi = self._without_loop(problem)
            covariance = wls.covariance
            if not known and self.coulomb_slope is None:
                problem = steep(problem, chi)
            fit = best_loop(problem, chi, covariance, known)
            if known and self.fit_loop == 'auto' and not fit.contradicts:
                return None
            theta, found = fit.theta, self._solved_with(fit, chi, next(tries))
            for _ in range(ROUNDS - 1):
                more = _linear(fit.problem, found)
                if more is None or not more.contradicts:
                    break
                fit = fit_loop(fit.problem, found.chi, found.covariance)
                theta, found = theta + fit.theta, self._solved_with(fit, found.chi, next(tries))
        except (RobotIdError, np.linalg.LinAlgError):
            return None
        what = 'the given one contradicts the recorded positions' if known else 'none is known'
        fit.problem.warnings += (f'{what}: the loop is estimated, {words(theta)}',)
        loop = fit.problem.loop
        described = {
            'law': loop.law,
            'bandwidth': list(loop.bandwidth),
            'damping': list(loop.damping),
            'rate_hz': loop.rate_hz,
            'delay_s': fit.problem.delay_s,
            'deviations': [float(v) for v in np.sqrt(np.diag(fit.covariance))],
        }
        found = replace(found, extras={**found.extras, 'estimated_loop': described})
        if self.deviations != 'classical':
            bias = bias_covariance(found.chi, wls.values, wls.covariance)
            found = replace(found, covariance=found.covariance + bias)
        return fit.problem, found

    def _solved_with(self, fit: LoopFit, start: Array, progress: Progress) -> Outcome:
        """Solve with a fitted loop, whose uncertainty is one of the parameters too."""
        fit.problem.loop_covariance = fit.covariance
        return self.solve(fit.problem, start, progress)

    def _without_loop(self, problem: LoopProblem) -> tuple[Result, Array]:
        """Return an estimate that no loop has a part in, and (b,) one that can be simulated."""
        wls = IdimWls(processing=self.processing).estimate(problem.robot, problem.dataset)
        motions = [run.position for run in problem.dataset.runs]
        chi = consistent_start(problem.robot, wls.values, motions, wls.covariance)
        return wls, chi


def best_loop(problem: LoopProblem, chi: Array, covariance: Array, known: bool) -> LoopFit:
    """
    Return the loop that moves most as the recording did.

    :param known: the law and the rate are those of the robot file; else both laws are tried, at
        the rate of the recording and at that of the problem.
    """
    if known:
        return fit_loop(problem, chi, covariance)
    found: list[LoopFit] = []
    for law in ('pd_cascade', 'pd'):
        for rate in sorted({problem.loop.rate_hz, problem.runs[0].run.rate}):
            loop = problem.loop.model_copy(update={'law': law, 'rate_hz': rate})
            try:
                found.append(fit_loop(problem.with_loop(loop), chi, covariance))
            except RobotIdError:
                continue
    if not found:
        raise IdentificationError('no loop can be simulated')
    return min(found, key=lambda fit: float(np.sum(np.log(fit.error))))


def steep(problem: LoopProblem, chi: Array) -> LoopProblem:
    """Return the problem with the friction of the robot file, where that can be simulated."""
    described = problem.robot.description
    slope = described.coulomb_slope
    if described.identification_slope is not None or slope <= problem.slope:
        return problem
    try:
        steeper = problem.with_loop(problem.loop, slope=slope)
        steeper.simulate(chi)
    except SimulationError:
        return problem
    return steeper


def _linear(problem: LoopProblem, found: Outcome) -> LoopFit | None:
    try:
        return fit_loop(problem, found.chi, found.covariance, steps=0)
    except (SimulationError, np.linalg.LinAlgError):
        return None


def _agrees(problem: LoopProblem, found: Outcome) -> bool:
    """Whether the loop moves as the recording did, as far as that can be seen."""
    fit = _linear(problem, found)
    return fit is None or not fit.contradicts
