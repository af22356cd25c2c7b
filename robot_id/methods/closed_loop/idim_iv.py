"""
IDIM-IV: the instrumental variable method with the simulated closed loop as instrument.

Instrumental variables: V' Y = V' W chi, by two QRs.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError, OutOfTimeError, SimulationError
from robot_id.methods.closed_loop.consistent import nearest_consistent
from robot_id.methods.closed_loop.estimated_loop import EstimatedLoopMethod
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.methods.closed_loop.reference import reference_states
from robot_id.methods.closed_loop.steps import (
    ShortSteps,
    best_so_far,
    careful_step,
    first_motion,
    has_settled,
    is_steady,
    relative_error,
)
from robot_id.methods.outcome import UNEXPLAINED_PERCENT, Outcome
from robot_id.methods.result import Iteration, history_text
from robot_id.progress import Progress
from robot_id.regression.consistency import Fitter
from robot_id.regression.rows.reversals import put_back
from robot_id.regression.rows.sampling import States
from robot_id.regression.solvers.least_squares import condition_number
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import JointFactors
from robot_id.regression.uncertainty.bootstrap import bootstrap_covariance
from robot_id.regression.uncertainty.sandwich import score_covariance

Array = NDArray[np.float64]
# A simulated motion whose torques are further from the measured ones than zeros are, ||Y - V chi||
# above ||Y||, is none of this robot, however small the error along the measured motion is.
NO_PREDICTION = 1.0


def instrumental_solution(
    V: list[Array], W: list[Array], Y: list[Array]
) -> tuple[Array, Array, float]:
    """
    Return chi of V' Y = V' W chi, its covariance, and the condition number of V.

    Two QRs (eq. 34): Q_V' Q_W R_W chi = Q_V' Y, no normal matrix is formed; all factors must have
    full rank. The covariance is sigma^2 A^-1 A^-T with A = Q_V' W and sigma^2 from Y - W chi.
    """
    v, w, y = np.concatenate(V), np.concatenate(W), np.concatenate(Y)
    if len(w) < w.shape[1]:
        raise IdentificationError(f'{len(w)} rows are left for {w.shape[1]} parameters')
    scale = np.linalg.norm(v, axis=0)
    if np.any(scale == 0.0):
        raise IdentificationError(f'{int(np.sum(scale == 0))} parameters are not excited at all')
    Q_V, R_V = np.linalg.qr(v / scale)
    Q_W, R_W = np.linalg.qr(w / scale)
    A = Q_V.T @ Q_W
    for what, matrix in (('V', R_V), ('W', R_W), ("V'W", A)):
        if condition_number(matrix) > 1e12:
            raise IdentificationError(
                f'{what} has lost rank: the motion does not excite all parameters, or the '
                'simulated loop does not follow the measured motion'
            )
    chi = sl.solve_triangular(R_W, np.linalg.solve(A, Q_V.T @ y)) / scale
    freedom = max(len(y) - len(chi), 1)
    sigma = np.linalg.norm(y - w @ chi) / np.sqrt(freedom)
    root = sl.solve_triangular(R_W, np.linalg.solve(A, np.eye(len(chi)))) / scale[:, None]
    return chi, sigma**2 * (root @ root.T), condition_number(R_V * scale)


def instrumental_covariance(V: Array, W: Array, residual: Array, bootstrap: bool = False) -> Array:
    """
    Return the (b, b) covariance A^-1 cov(Q_V' rho) A^-T, A = Q_V' W, for the residual as it is.

    :param V: (M, n, b) weighted instruments, W (M, n, b) rows, zero where left out.
    :param residual: (M, n) weighted Y - W chi.
    :param bootstrap: from randomly resampled blocks of rows, not by formula.
    """
    b = V.shape[2]
    scale = np.linalg.norm(W.reshape(-1, b), axis=0)
    Q_V = np.linalg.qr(V.reshape(-1, b) / scale)[0]
    A = Q_V.T @ (W.reshape(-1, b) / scale)
    Z = Q_V.reshape(V.shape)
    if bootstrap:
        drawn = bootstrap_covariance([Z], [W / scale], [residual])
        return drawn / np.outer(scale, scale)
    S = score_covariance([Z], [residual])
    root = np.linalg.solve(A, np.eye(b)) / scale[:, None]
    return root @ S @ root.T


def nearest_motions(
    problem: LoopProblem,
    free: Array,
    covariance: Array,
    W: Sequence[Array],
    Y: Sequence[Array],
) -> list[list[States]]:
    """
    Return motions for the instruments: of the physically consistent robot nearest to an estimate,
    and its goal.

    IV is consistent with any instrument that goes with the regressor and not with the noise
    (chi = (V' W)^-1 V' Y, V' noise -> 0), so V need not be made with the estimate. A robot with
    next to no inertia may tremble in its loop, or not be held by it; the reference does neither.

    :param free: (b,) the estimate, (b, b) its covariance: the metric of 'nearest'.
    :param W: (r_j, b) rows of every joint, Y (r_j,) its torques.
    :returns: none where no physically consistent robot explains the torques: then the data are to
        blame.
    """
    near = nearest_consistent(problem.robot, free, covariance)
    if near is None:
        return []
    left = sum(float(np.sum((y - w @ near) ** 2)) for w, y in zip(W, Y))
    if not left < (0.01 * UNEXPLAINED_PERCENT) ** 2 * sum(float(y @ y) for y in Y):
        return []
    motions = [reference_states(problem.runs)]
    with suppress(SimulationError, IdentificationError):
        motions.append(problem.states(problem.simulate(near)))
    return motions


@dataclass(frozen=True)
class IdimIv(EstimatedLoopMethod):
    """
    Instrumental variables: V' Y = V' W chi, V the regressor of the simulated motion (paper 000).

    V has no measurement noise, so noise in W leaves no bias, filtered or not. The reported error
    is ||Y - V chi|| / ||Y|| as in the paper; the deviations use Y - W chi, the noise that V sees.
    Any V that goes with W and not with its noise will do: where the estimate has no direct model,
    V comes from the physically consistent robot nearest to it, and the result says so.
    """

    name: ClassVar[str] = 'idim_iv'
    measured_torque: ClassVar[bool] = True

    def solve(self, problem: LoopProblem, start: Array, progress: Progress) -> Outcome:
        """Iterate the instruments until the estimate settles."""
        data, chi = _Rows(problem), start
        V = problem.projected(problem.regressor_rows(first_motion(problem, start)))
        history: list[Iteration] = []
        error, converged = np.inf, False
        fitter = Fitter(problem.robot) if self.physical else None
        creeping = ShortSteps()
        for k in range(self.iterations):
            progress(k / self.iterations, history_text(history))
            solved = data.solved(V)
            free, covariance = solved.free, solved.covariance
            proposal = free if fitter is None else fitter.project(free, covariance).chi
            try:
                new, simulations, step = careful_step(problem, chi, proposal)
            except OutOfTimeError as late:
                best_so_far(problem, k, late)
                break
            creeping.note(step)
            rows = problem.regressor_rows(problem.states(simulations))
            V = problem.projected(rows)
            rho = [y - v @ new for y, v in zip(data.torque, rows)]
            last, error = error, relative_error(rho, data.torque)
            history.append(Iteration(new, 100.0 * error, step))
            change, chi = new - chi, new
            steady = is_steady(last, error, self.tolerance)
            if step == 1.0 and steady and has_settled(change, covariance, self.settled, chi):
                converged = True
                break
        if error > NO_PREDICTION:
            raise IdentificationError(
                f'the simulated loop swings: its torques differ from the measured ones by '
                f'{100.0 * error:.3g} %'
            )
        found = self._outcome(data, chi, V, rho, solved)
        known = free if step == 1.0 else None
        return replace(found, history=tuple(history), converged=converged, free=known)

    def fallback(
        self, problem: LoopProblem, start: Array, progress: Progress
    ) -> tuple[LoopProblem, Outcome] | None:
        """Return the estimate with the instrument of the nearest consistent robot, or rigid."""
        rigid = super().fallback(problem, start, progress)
        if rigid is not None:
            return rigid
        data, found = _Rows(problem), list[tuple[float, Outcome]]()
        try:
            free = data.solved(data.W)
            for motion in nearest_motions(problem, free.free, free.covariance, data.W, data.Y):
                V = problem.projected(problem.regressor_rows(motion))
                solved = data.solved(V)
                chi = solved.free
                rest = [y - w @ chi for y, w in zip(data.Y, data.W)]
                along = relative_error([y - v @ chi for y, v in zip(data.Y, V)], data.Y)
                history = (Iteration(chi, 100.0 * relative_error(rest, data.Y), 1.0),)
                outcome = self._outcome(data, chi, V, rest, solved)
                found.append((along, replace(outcome, history=history, free=chi)))
        except IdentificationError:
            return None
        if not found:
            return None
        problem.warnings += (
            'the estimate cannot be simulated (inertias or frictions too small to tell from '
            'zero): the instrument follows the nearest physically consistent robot or the '
            'reference, the estimate is not constrained, and the error is the one along the '
            'measured motion',
        )
        return problem, min(found, key=lambda pair: pair[0])[1]

    def _outcome(
        self, data: _Rows, chi: Array, V: list[Array], rho: list[Array], solved: _Solved
    ) -> Outcome:
        """
        Return the estimate with its deviations.

        :param rho: residuals along the simulated motion.
        """
        problem, covariance = data.problem, solved.covariance
        rest = [y - w @ chi for y, w in zip(data.Y, data.W)]
        error = relative_error(rest, data.Y)
        rest = put_back(rest, problem.reversals.taken)
        if self.deviations != 'classical':
            v, w, rho_w = (
                problem.whole([g * x for g, x in zip(solved.weights, parts)])
                for parts in (V, data.W, rest)
            )
            drawn = self.deviations == 'bootstrap'
            covariance = instrumental_covariance(v, w, rho_w, drawn)
            covariance += data.offset_share(V, solved.weights)
        return Outcome(
            chi,
            covariance,
            solved.condition,
            residuals=rho,
            extras={'relative_error_percent_measured_motion': 100.0 * error},
        )


@dataclass(frozen=True)
class _Solved:
    """One solution: (b,) estimate, (b, b) covariance for white noise, (n,) weights."""

    free: Array
    covariance: Array
    condition: float
    weights: Array


class _Rows:
    """The measured side: W and Y of every joint, and its torque before its reversals left it."""

    def __init__(self, problem: LoopProblem) -> None:
        self.problem = problem
        measured = problem.measured_states()
        self.torque = problem.joint_rows(problem.rows(lambda s: s.torque, measured))
        self.Y = problem.projected(self.torque)
        self.W = problem.projected(problem.regressor_rows(measured))

    def offset_share(self, V: list[Array], weights: Array) -> Array:
        """
        (b, b) covariance due to the time offset of the torques that was estimated.

        Y(t - d) = Y - d dY/dt: an error of the offset moves the estimate as a torque dY/dt would.
        """
        problem, W = self.problem, self.W
        if not problem.offset_std:
            return np.zeros((W[0].shape[1],) * 2)
        moved = problem.projected(problem.joint_rows(problem.torque_rates()))
        D, *_ = instrumental_solution(
            *([g * x for g, x in zip(weights, parts)] for parts in (V, W, moved))
        )
        return problem.offset_std**2 * np.outer(D, D)

    def solved(self, V: list[Array]) -> _Solved:
        """Solve V' Y = V' W chi, each joint weighted by its residual."""
        factors = JointFactors.of_rows(self.problem.robot.base.names, list(zip(V, self.Y)))
        weights, _ = System(factors).joint_weights()
        solution = instrumental_solution(
            [w * v for w, v in zip(weights, V)],
            [w * x for w, x in zip(weights, self.W)],
            [w * y for w, y in zip(weights, self.Y)],
        )
        return _Solved(*solution, weights)
