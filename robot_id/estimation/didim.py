"""DIDIM: fit the torques of the simulated closed loop, positions are never needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics import Controller, Simulation
from robot_id.dynamics.controller import Feedback
from robot_id.dynamics.sensitivity import loop_sensitivities
from robot_id.estimation.loop_method import (
    LoopMethod,
    ShortSteps,
    careful_step,
    first_motion,
    has_settled,
    is_steady,
    relative_error,
)
from robot_id.estimation.loop_problem import LoopProblem
from robot_id.estimation.outcome import Outcome
from robot_id.estimation.result import Iteration, history_text
from robot_id.exceptions import IdentificationError
from robot_id.progress import Progress
from robot_id.regression.deviations import least_squares_covariance
from robot_id.regression.least_squares import Solution
from robot_id.regression.physical import Fitter
from robot_id.regression.sampling import States
from robot_id.regression.system import System
from robot_id.regression.triangular import JointFactors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Didim(LoopMethod):
    """
    Direct and inverse identification model: minimise ||tau - tau_simulated(chi)|| (paper 001).

    The paper's Jacobian of the simulated torque is the regressor along the simulated motion, as if
    the loop tracked equally well with any parameters; it goes far from any start and converges
    linearly at the end. The exact one adds how the motion itself depends on the parameters.

    :param jacobian: 'exact' after the first full step, or always the 'paper' one.
    """

    name: ClassVar[str] = 'didim'
    robust: ClassVar[bool] = True

    jacobian: Literal['exact', 'paper'] = 'exact'

    def solve(self, problem: LoopProblem, start: Array, progress: Progress) -> Outcome:
        """Iterate Gauss-Newton steps on the simulated torques."""
        Y = problem.joint_rows(problem.torque)
        chi, motions = start, first_motion(problem, start)
        simulations: list[Simulation] = []
        rho: list[Array] = []
        history: list[Iteration] = []
        error, exact, converged = np.inf, False, False
        fitter = Fitter(problem.robot) if self.physical else None
        creeping = ShortSteps()
        for k in range(self.iterations):
            progress(k / self.iterations, history_text(history))
            if exact:
                solution = weighted_fit(problem, exact_jacobian(problem, chi, simulations), rho)
                proposal = chi + solution.chi
            else:
                solution = weighted_fit(problem, problem.regressor_rows(motions), Y)
                proposal = solution.chi
            free = proposal
            if fitter is not None:
                proposal = fitter.project(free, solution.covariance).chi
            new, simulations, step = careful_step(problem, chi, proposal)
            creeping.note(step)
            motions = problem.states(simulations)
            rho = [y - s for y, s in zip(Y, simulated_torque(problem, motions))]
            last, error = error, relative_error(rho, Y)
            history.append(Iteration(new, 100.0 * error, step))
            change, chi = new - chi, new
            if (
                step == 1.0
                and is_steady(last, error, self.tolerance)
                and has_settled(change, solution.covariance, self.settled, chi)
            ):
                converged = True
                break
            exact = self.jacobian == 'exact' and step == 1.0 and has_sensitivities(problem, chi)
        jacobian = (
            exact_jacobian(problem, chi, simulations)
            if has_sensitivities(problem, chi)
            else problem.regressor_rows(motions)
        )
        return Outcome(
            chi,
            fit_covariance(problem, jacobian, rho),
            solution.condition_number,
            residuals=rho,
            history=tuple(history),
            converged=converged,
            free=free if step == 1.0 else None,
        )


def has_sensitivities(problem: LoopProblem, chi: Array) -> bool:
    """Tell whether the control law has them; one without stays with the paper's Jacobian."""
    own = problem.controller(chi)
    return own.law.feedback(own) is not None


def weighted_fit(problem: LoopProblem, W: list[Array], Y: list[Array]) -> Solution:
    """Solve Y_j = W_j chi of all joints, each weighted by its own residual."""
    factors = JointFactors.of_rows(problem.robot.base.names, list(zip(W, Y)))
    system = System(factors)
    return system.solve(system.joint_weights()[0])[0]


def fit_covariance(problem: LoopProblem, J: list[Array], rho: list[Array]) -> Array:
    """Return the (b, b) covariance of a fit with the Jacobian J, for the residual as it is."""
    factors = JointFactors.of_rows(problem.robot.base.names, list(zip(J, rho)))
    weights = System(factors).joint_weights()[0]
    rows, residual = (problem.whole([g * x for g, x in zip(weights, parts)]) for parts in (J, rho))
    return least_squares_covariance([rows], [residual])


def simulated_torque(problem: LoopProblem, motions: list[States]) -> list[Array]:
    """Return the decimated simulated torque of every joint."""
    return problem.joint_rows(problem.rows(lambda s: s.torque, motions))


def exact_jacobian(problem: LoopProblem, chi: Array, simulations: list[Simulation]) -> list[Array]:
    """Return d tau_j/d chi (r_j, b) of every joint along the simulated loop, gains following."""
    controller = problem.controller(chi)
    slopes = controller.law.feedback_slopes(
        problem.robot, problem.loop, chi, problem.bandwidth_factor
    )
    return loop_jacobian(problem, chi, simulations, linear_feedback(controller), slopes)[1]


def linear_feedback(controller: Controller) -> Feedback:
    """
    Return the gains of the torque that the sensitivities need.

    :raises IdentificationError: for a law that is no linear feedback of the joints.
    """
    feedback = controller.law.feedback(controller)
    if feedback is None:
        raise IdentificationError(
            f"the law '{controller.law.name}' has no sensitivities: take a loop with a PD law"
        )
    return feedback


def loop_jacobian(
    problem: LoopProblem,
    chi: Array,
    simulations: list[Simulation],
    feedback: Feedback,
    gain_slopes: tuple[Array, Array] | None,
) -> tuple[list[Array], list[Array]]:
    """
    Return d q_j/d chi and d tau_j/d chi as decimated rows of every joint.

    :param feedback: gains of the torque on position and velocity.
    :param gain_slopes: (n, b) how these follow the parameters, None for fixed gains.
    """
    robot, n, b = problem.robot, problem.robot.n, len(problem.robot.base)
    position_rows: list[Array] = []
    torque_rows: list[Array] = []
    for r, s in zip(problem.runs, simulations):
        coarse = coarse_step(problem.factor, r.run.rate)
        pick = slice(None, None, coarse * r.every)
        q, dq, ddq = s.position[pick], s.velocity[pick], s.acceleration[pick]
        effect: Array | float = 0.0
        if gain_slopes is not None:
            e = s.reference.position[pick] - q
            feed = s.reference.velocity[pick] if feedback.feeds_velocity else 0.0
            effect = e[:, :, None] * gain_slopes[0] + (feed - dq)[:, :, None] * gain_slopes[1]
        S, T = loop_sensitivities(
            robot, chi, q, dq, ddq, coarse * r.run.step, feedback[:2], effect, problem.slope
        )
        first, last = r.first // coarse, -(-r.last // coarse)
        for rows, sensitivity in ((position_rows, S), (torque_rows, T)):
            flat = sensitivity[first:last].reshape(-1, n * b)
            kept = problem.reduce(flat, problem.factor // coarse)
            kept = problem.inner(kept[: -(-(r.last - r.first) // problem.factor)])
            rows.append(kept.reshape(-1, n, b))
    parts = []
    for rows in (position_rows, torque_rows):
        whole = np.concatenate(rows)
        parts.append([whole[problem.used[:, j], j] for j in range(n)])
    return parts[0], parts[1]


def coarse_step(factor: int, rate: float, lowest_rate: float = 200.0) -> int:
    """Return the largest divisor of the decimation that leaves at least the lowest rate."""
    fitting = [d for d in range(1, factor + 1) if factor % d == 0 and rate / d >= lowest_rate]
    return max(fitting, default=1)
