"""DIDIM: fit the torques of the simulated closed loop, positions are never needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics import Controller, Simulation, inverse_dynamics
from robot_id.exceptions import OutOfTimeError
from robot_id.methods.closed_loop.estimated_loop import EstimatedLoopMethod
from robot_id.methods.closed_loop.jacobian import (
    by_joint,
    following_jacobian,
    linear_feedback,
    loop_jacobian,
)
from robot_id.methods.closed_loop.loop_fit import loop_slopes
from robot_id.methods.closed_loop.method import rigid_statement
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.methods.closed_loop.steps import (
    Relaxation,
    ShortSteps,
    best_so_far,
    careful_step,
    first_motion,
    has_settled,
    is_steady,
    relative_error,
)
from robot_id.methods.outcome import Deviations, Outcome
from robot_id.methods.result import Iteration, history_text
from robot_id.progress import Progress
from robot_id.regression.consistency import Fitter
from robot_id.regression.rows.reversals import put_back
from robot_id.regression.rows.sampling import States
from robot_id.regression.solvers.least_squares import Solution
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import JointFactors
from robot_id.regression.uncertainty.standard_errors import least_squares_covariance

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Didim(EstimatedLoopMethod):
    """
    Direct and inverse identification model: minimise ||tau - tau_simulated(chi)|| (paper 001).

    The paper's Jacobian of the simulated torque is the regressor along the simulated motion, as if
    the loop tracked equally well with any parameters; it converges from almost any start, but only
    linearly at the end. The exact one adds how the motion itself depends on the parameters. Gains
    follow the parameters (eq. 46 of paper 000) until then; if the loop states the inertia it was
    tuned with, the gains are known and used for the last steps.

    Friction near rest is not the plant's: encoder steps shake a joint where it turns, and real
    gears hold it. The reversals are projected out of the rows as those of IDIM
    (`regression.rows.reversals`). Where nobody knows the loop and the data have no reference, the
    loop is rigid: any other one would move the model a little beside the recorded motion, and the
    estimate with it.

    :param jacobian: 'exact' after the first full step, or always the 'paper' one.
    """

    name: ClassVar[str] = 'didim'

    jacobian: Literal['exact', 'paper'] = 'exact'

    def simulable(self, problem: LoopProblem, start: Array) -> LoopProblem:
        """Return the problem with a rigid loop where no reference was recorded."""
        rigid = problem.rigid
        if rigid is None:
            return super().simulable(problem, start)
        rigid.warnings += (rigid_statement('would not move exactly as the robot moved'),)
        return rigid

    def solve(self, problem: LoopProblem, start: Array, progress: Progress) -> Outcome:
        """Iterate Gauss-Newton steps on the simulated torques."""
        Y = problem.joint_rows(problem.torque)
        chi, motions = start, first_motion(problem, start)
        problem.reversals.along([motion.q for motion in motions])
        simulations: list[Simulation] = []
        rho: list[Array] = []
        history: list[Iteration] = []
        error, exact, converged = np.inf, False, False
        own = known_gains(problem, chi) if self.jacobian == 'exact' else None
        fitter = Fitter(problem.robot) if self.physical else None
        creeping, relaxation = ShortSteps(), Relaxation()
        for k in range(self.iterations):
            progress(k / self.iterations, history_text(history))
            if exact:
                J = exact_jacobian(problem, chi, simulations, own)
                solution = weighted_fit(problem, problem.projected(J), problem.projected(rho))
                proposal = chi + solution.chi
            else:
                V = problem.projected(problem.regressor_rows(motions))
                solution = weighted_fit(problem, V, problem.projected(Y))
                proposal = solution.chi
            free = proposal
            if fitter is not None:
                proposal = fitter.project(free, solution.covariance).chi
            proposal = relaxation.shortened(chi, proposal, solution.covariance)
            try:
                gains = own if exact else None
                new, simulations, step = careful_step(problem, chi, proposal, gains)
            except OutOfTimeError as late:
                best_so_far(problem, k, late)
                break
            creeping.note(step)
            motions = problem.states(simulations)
            if not exact:
                problem.reversals.along([motion.q for motion in motions])
            rho = [y - s for y, s in zip(Y, simulated_torque(problem, new, motions))]
            last, error = error, relative_error(rho, Y)
            history.append(Iteration(new, 100.0 * error, step))
            change, chi = (new - chi) / relaxation.share, new
            if (
                step == 1.0
                and gains is own
                and is_steady(last, error, self.tolerance)
                and has_settled(change, solution.covariance, self.settled, chi)
            ):
                converged = True
                break
            exact = self.jacobian == 'exact' and step == 1.0 and has_sensitivities(problem, chi)
        covariance = self._covariance(problem, chi, simulations, gains, rho)
        return Outcome(
            chi,
            covariance,
            solution.condition_number,
            residuals=rho,
            history=tuple(history),
            converged=converged,
            free=free if step == 1.0 else None,
        )

    def _covariance(
        self,
        problem: LoopProblem,
        chi: Array,
        simulations: list[Simulation],
        gains: Controller | None,
        rho: list[Array],
    ) -> Array:
        """(b, b) of the estimate: from its residual, and from what was estimated before it."""
        J = problem.projected(last_jacobian(problem, chi, simulations, gains))
        rest = put_back(problem.projected(rho), problem.reversals.taken)
        covariance = fit_covariance(problem, J, rest, self.deviations)
        if problem.loop_covariance is not None:
            slopes = loop_slopes(problem, chi, simulations)[1]
            covariance += torque_share(problem, J, rest, slopes, problem.loop_covariance)
        if problem.offset_std and self.deviations != 'classical':
            # Y(t - d) = Y - d dY/dt: an error of the time offset is such a torque.
            rates, variance = problem.torque_rates()[:, :, None], problem.offset_std**2 * np.eye(1)
            covariance += torque_share(problem, J, rest, rates, variance)
        return covariance


def known_gains(problem: LoopProblem, chi: Array) -> Controller | None:
    """Return the loop with the gains it has, where its inertia is given and nothing is fitted."""
    known = problem.loop.inertia is not None and problem.loop_covariance is None
    return problem.controller(None) if known and has_sensitivities(problem, chi) else None


def has_sensitivities(problem: LoopProblem, chi: Array) -> bool:
    """
    Return whether the control law has sensitivities; otherwise the paper's Jacobian is used.

    That of a rigid loop is exact: its motion does not depend on the parameters.
    """
    if problem.kind == 'rigid':
        return False
    own = problem.controller(chi)
    return own.law.feedback(own) is not None


def weighted_fit(problem: LoopProblem, W: list[Array], Y: list[Array]) -> Solution:
    """Solve Y_j = W_j chi of all joints, each weighted by its own residual."""
    factors = JointFactors.of_rows(problem.robot.base.names, list(zip(W, Y)))
    system = System(factors)
    return system.solve(system.joint_weights()[0])[0]


def fit_covariance(
    problem: LoopProblem,
    J: list[Array],
    rho: list[Array],
    deviations: Deviations = 'robust',
    changing: bool = False,
) -> Array:
    """
    Return the (b, b) covariance of a fit with the Jacobian J, as the option says.

    :param changing: the noise may change along the motion, as that of positions in a loop does.
    """
    if deviations == 'classical':
        return weighted_fit(problem, J, rho).covariance
    factors = JointFactors.of_rows(problem.robot.base.names, list(zip(J, rho)))
    weights = System(factors).joint_weights()[0]
    rows, residual = (problem.whole([g * x for g, x in zip(weights, parts)]) for parts in (J, rho))
    return least_squares_covariance([rows], [residual], deviations == 'bootstrap', changing)


def torque_share(
    problem: LoopProblem, J: list[Array], rho: list[Array], slopes: Array, covariance: Array
) -> Array:
    """
    Return the part of the covariance that is due to p numbers that are estimated apart: D C D'.

    Numbers that are off by d theta make torques T d theta, which the fit takes for
    D d theta = -J^+ T d theta.

    :param J: rows of every joint as they were fitted, and their residual rho.
    :param slopes: (R, n, p) T, d tau/d theta.
    :param covariance: (p, p) C.
    """
    factors = JointFactors.of_rows(problem.robot.base.names, list(zip(J, rho)))
    weights = System(factors).joint_weights()[0]
    rows = np.concatenate([g * x for g, x in zip(weights, J)])
    used = problem.projected([slopes[problem.used[:, j], j] for j in range(problem.robot.n)])
    torques = np.concatenate([g * x for g, x in zip(weights, used)])
    D = np.linalg.lstsq(rows, torques, rcond=None)[0]
    return D @ covariance @ D.T


def simulated_torque(problem: LoopProblem, chi: Array, motions: list[States]) -> list[Array]:
    """
    Return the decimated simulated torque of every joint.

    The simulated plant creeps where a robot sticks, which moves it next to nothing, but its
    friction 2/pi atan(alpha dq) has a tail that hard friction has not: where the rows have another
    law than the plant, the torques are those of that law along the simulated motion.
    """

    def torque(s: States) -> Array:
        if problem.row_slope == problem.slope:
            return s.torque
        return inverse_dynamics(problem.robot, chi, s.q, s.dq, s.ddq, problem.row_slope)

    return problem.joint_rows(problem.rows(torque, motions))


def last_jacobian(
    problem: LoopProblem, chi: Array, simulations: list[Simulation], own: Controller | None
) -> list[Array]:
    """Return the Jacobian of the covariance, exact if the law has sensitivities."""
    if own is not None:
        return exact_jacobian(problem, chi, simulations, own)
    if not has_sensitivities(problem, chi):
        return problem.regressor_rows(problem.states(simulations))
    slopes, torques = following_jacobian(problem, chi, simulations, ('position', 'torque'))
    # The check of the loop needs them again.
    problem.known_slopes = chi, slopes
    return by_joint(problem, torques)


def exact_jacobian(
    problem: LoopProblem, chi: Array, simulations: list[Simulation], own: Controller | None
) -> list[Array]:
    """
    Return d tau_j/d chi (r_j, b) of every joint along the simulated loop.

    :param own: gains of the loop; None: they follow chi.
    """
    if own is not None:
        return loop_jacobian(problem, chi, simulations, linear_feedback(own), None, 'torque')
    return by_joint(problem, following_jacobian(problem, chi, simulations, ('torque',))[0])
