"""CLOE and CLIE: output errors of the closed loop with the robot's own, fixed gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from robot_id.dynamics import Controller, Simulation, positive_on_motion
from robot_id.exceptions import (
    IdentificationError,
    OptionError,
    OutOfTimeError,
    SimulationError,
)
from robot_id.methods.closed_loop.didim import fit_covariance, simulated_torque, weighted_fit
from robot_id.methods.closed_loop.jacobian import linear_feedback, loop_jacobian
from robot_id.methods.closed_loop.method import LoopMethod
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.methods.closed_loop.steps import (
    EXACT,
    best_so_far,
    careful_step,
    first_simulation,
    has_settled,
    relative_error,
)
from robot_id.methods.outcome import Outcome
from robot_id.methods.result import Iteration, history_text
from robot_id.progress import Progress
from robot_id.ranges import Count, Range
from robot_id.regression.rows.sampling import States
from robot_id.regression.solvers.least_squares import Solution
from robot_id.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cloe(LoopMethod):
    """
    Closed-loop output error: minimise ||q - q_simulated(chi)|| (paper 001 section V).

    The gains are the robot's own and stay fixed: with gains that follow the estimate, all
    parameters times a factor would move the same way. So the start must be near.

    :param optimizer: 'gauss_newton' on forward sensitivities (Levenberg-Marquardt damping when a
        step does not help), which also gives the deviations, or 'nelder_mead' as in the paper.
    :param simulations: largest number of simulations of nelder_mead.
    """

    name: ClassVar[str] = 'cloe'
    output: ClassVar[Literal['position', 'torque']] = 'position'
    compares_torques: ClassVar[bool] = False

    iterations: Annotated[int, Range(1, 1000)] = 50
    optimizer: Literal['gauss_newton', 'nelder_mead'] = 'gauss_newton'
    simulations: Count = 20000

    def automatic_start(self, robot: Robot, known: bool) -> str:
        """Return the a priori values of the robot file, the WLS estimate where it has none."""
        return 'a_priori' if robot.description.a_priori else 'wls'

    def solve(self, problem: LoopProblem, start: Array, progress: Progress) -> Outcome:
        """Minimise the output error."""
        self._check_reference(problem)
        # The gains of a loop that nobody knows are those for the inertia of the start.
        own = problem.controller(None if problem.kind == 'known' else start)
        if own.law.feedback(own) is None:
            raise OptionError(
                f"loop '{self.loop}' has the law '{own.law.name}': {self.name} needs a PD loop"
            )
        fit = _OutputError(problem, own, self.output)
        if self.optimizer == 'nelder_mead':
            chi, history, converged = self._simplex(fit, start, progress)
            simulations = problem.simulate(chi, fit.controller)
        else:
            chi, simulations, history, converged = self._gauss_newton(fit, start, progress)
        solution = fit.linear(chi, simulations)
        covariance = fit_covariance(
            problem,
            fit.jacobian(chi, simulations),
            fit.residual(chi, simulations),
            self.deviations,
            changing=self.output == 'position',
        )
        torque = simulated_torque(problem, chi, problem.states(simulations))
        rho = [y - s for y, s in zip(problem.joint_rows(problem.torque), torque)]
        extras = {'output_error_percent': 100.0 * fit.error(chi, simulations)}
        return Outcome(
            chi,
            covariance,
            solution.condition_number,
            residuals=rho,
            history=tuple(history),
            converged=converged,
            must_explain=True,
            extras=extras,
        )

    def _check_reference(self, problem: LoopProblem) -> None:
        """
        Refuse data that say nothing of what the loop was told.

        Where the recorded position stands in for the reference, the best loop is one with nothing
        to carry: ||q - q_s|| falls with the torques, and the parameters go to zero.
        """
        if problem.recorded or (self.output == 'torque' and problem.kind == 'known'):
            return
        raise IdentificationError(
            f'{self.name} needs the reference that the loop of the robot followed, and the data '
            "have none: give 'reference_position' in the mapping, or use didim, idim_iv or "
            'idim_wls'
        )

    def _gauss_newton(
        self, fit: _OutputError, start: Array, progress: Progress
    ) -> tuple[Array, list[Simulation], list[Iteration], bool]:
        chi, simulations = start, first_simulation(fit.problem, start, fit.controller)
        cost = fit.cost(chi, simulations)
        history: list[Iteration] = []
        for k in range(self.iterations):
            progress(k / self.iterations, history_text(history))
            solution = fit.linear(chi, simulations)
            step, done = 1.0, False
            while True:
                try:
                    new, trial, kept = careful_step(
                        fit.problem, chi, chi + step * solution.chi, fit.controller
                    )
                except OutOfTimeError as late:
                    best_so_far(fit.problem, k, late)
                    return chi, simulations, history, False
                step *= kept
                lower, left = fit.cost(new, trial), fit.error(new, trial)
                steady = left <= EXACT or abs(cost - lower) <= self.tolerance * cost
                settled = has_settled(new - chi, solution.covariance, self.settled, chi)
                done = steady and settled
                if lower <= cost or done:
                    break
                step *= 0.5
            history.append(Iteration(new, 100.0 * left, step))
            chi, simulations, cost = new, trial, lower
            if done:
                break
        return chi, simulations, history, done

    def _simplex(
        self, fit: _OutputError, start: Array, progress: Progress
    ) -> tuple[Array, list[Iteration], bool]:
        """Nelder-Mead in units of what each parameter alone would need to make the torques."""
        first = first_simulation(fit.problem, start, fit.controller)
        fit.freeze_weights(start, first)
        scale = fit.parameter_scale(first)
        motions = [r.reference.position for r in fit.problem.runs]
        history: list[Iteration] = []
        count, worst = 0, 1e6 * fit.cost(start, first)

        def objective(x: Array) -> float:
            nonlocal count
            count += 1
            progress(min(count / self.simulations, 1.0), f'{count} simulations')
            chi = x * scale
            if not positive_on_motion(fit.problem.robot, chi, motions):
                return worst
            try:
                return fit.cost(chi, fit.problem.simulate(chi, fit.controller))
            except SimulationError:
                return worst

        x, best, converged = start / scale, np.inf, False
        while count < self.simulations and not converged:
            found: Any = scipy.optimize.minimize(  # type: ignore[call-overload]
                objective,
                x,
                method='Nelder-Mead',
                callback=lambda y: history.append(Iteration(y * scale, float('nan'))),
                options={
                    'maxfev': self.simulations - count, 'maxiter': 10 * self.simulations,
                    'xatol': 1e-5, 'fatol': np.inf, 'adaptive': len(x) > 10,
                    'initial_simplex': np.vstack([x, x + np.diag(_edges(x))]),
                },
            )  # fmt: skip
            # A simplex may collapse early: a fresh one around the result must find nothing better.
            converged = found.success and found.fun > best * (1.0 - 1e-4)
            x, best = found.x, min(best, found.fun)
        return x * scale, history, converged


@dataclass(frozen=True)
class Clie(Cloe):
    """
    Closed-loop input error: minimise ||tau - tau_simulated(chi)|| with the robot's own gains.

    As DIDIM, but the simulated gains do not follow the estimate.
    """

    name: ClassVar[str] = 'clie'
    output: ClassVar[Literal['position', 'torque']] = 'torque'
    compares_torques: ClassVar[bool] = True


class _OutputError:
    """The output error of simulated runs, weighted by joint."""

    def __init__(
        self, problem: LoopProblem, controller: Controller, output: Literal['position', 'torque']
    ) -> None:
        self.problem = problem
        self.controller = controller
        self.output = output
        if output == 'position':
            motions = [
                States(r.run.position, r.run.position, r.run.position, r.run.torque)
                for r in problem.runs
            ]
            self.target = problem.joint_rows(problem.rows(lambda s: s.q, motions))
        else:
            self.target = problem.joint_rows(problem.torque)
        self.weights = 1.0 / np.maximum([float(np.std(y)) for y in self.target], 1e-300)

    def freeze_weights(self, chi: Array, simulations: list[Simulation]) -> None:
        """Weigh each joint by the size of its output error now."""
        rho = self.residual(chi, simulations)
        sizes = np.array([np.linalg.norm(r) / np.sqrt(len(r)) for r in rho])
        if not np.all(sizes > 0.0):
            raise IdentificationError('the start already reproduces the data exactly')
        self.weights = 1.0 / sizes

    def parameter_scale(self, simulations: list[Simulation]) -> Array:
        """(b,) the value at which each parameter alone would make torques of the measured size."""
        W = self.problem.regressor_rows(self.problem.states(simulations))
        torque = np.concatenate(self.problem.joint_rows(self.problem.torque))
        columns = np.sqrt(sum(np.sum(w * w, axis=0) for w in W))
        return np.linalg.norm(torque) / np.where(columns > 0.0, columns, np.inf)

    def residual(self, chi: Array, simulations: list[Simulation]) -> list[Array]:
        """Return measured minus simulated output of every joint."""
        motions = self.problem.states(simulations)
        if self.output == 'torque':
            rows = simulated_torque(self.problem, chi, motions)
        else:
            rows = self.problem.joint_rows(self.problem.rows(lambda s: s.q, motions))
        return [y - s for y, s in zip(self.target, rows)]

    def cost(self, chi: Array, simulations: list[Simulation]) -> float:
        """Return the weighted sum of squares."""
        parts = zip(self.weights, self.residual(chi, simulations))
        return float(sum(w * w * float(r @ r) for w, r in parts))

    def error(self, chi: Array, simulations: list[Simulation]) -> float:
        """Return ||y - y_s|| / ||y|| over all joints."""
        return relative_error(self.residual(chi, simulations), self.target)

    def jacobian(self, chi: Array, simulations: list[Simulation]) -> list[Array]:
        """Return (r_j, b) the slopes of every joint's output in the parameters."""
        feedback = linear_feedback(self.controller)
        return loop_jacobian(self.problem, chi, simulations, feedback, None, self.output)

    def linear(self, chi: Array, simulations: list[Simulation]) -> Solution:
        """Return the Gauss-Newton step, with its covariance for white noise."""
        J = self.jacobian(chi, simulations)
        return weighted_fit(self.problem, J, self.residual(chi, simulations))


def _edges(x: Array) -> Array:
    """Return the first steps of a simplex: 5 % of a value, 1 % of the scale where it is zero."""
    return np.maximum(0.05 * np.abs(x), 0.01)
