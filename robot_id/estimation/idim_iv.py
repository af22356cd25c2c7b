"""IDIM-IV: the instrumental variable method with the simulated closed loop as instrument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.estimation.idim import joint_weights
from robot_id.estimation.loop_method import (
    LoopMethod,
    Outcome,
    careful_step,
    first_motion,
    has_settled,
    is_steady,
    relative_error,
)
from robot_id.estimation.loop_problem import LoopProblem
from robot_id.estimation.result import Iteration, history_text
from robot_id.exceptions import IdentificationError
from robot_id.progress import Progress
from robot_id.regression.least_squares import condition_number
from robot_id.regression.triangular import JointFactors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IdimIv(LoopMethod):
    """
    Instrumental variables: V' Y = V' W chi, V the regressor of the simulated motion (paper 000).

    V has no measurement noise, so noise in W leaves no bias, filtered or not. The reported error
    is ||Y - V chi|| / ||Y|| as in the paper; the deviations use Y - W chi, the noise that V meets.
    """

    name: ClassVar[str] = 'idim_iv'

    def solve(self, problem: LoopProblem, start: Array, progress: Progress) -> Outcome:
        """Iterate the instruments until the estimate stays."""
        names = problem.robot.base.names
        measured = problem.measured_states()
        Y = problem.joint_rows(problem.rows(lambda s: s.torque, measured))
        W = problem.regressor_rows(measured)
        chi = start
        V = problem.regressor_rows(first_motion(problem, start))
        history: list[Iteration] = []
        error, converged = np.inf, False
        for k in range(self.iterations):
            progress(k / self.iterations, history_text(history))
            weights, _ = joint_weights(JointFactors.of_rows(names, list(zip(V, Y))))
            proposal, covariance, condition = instrumental_solution(
                [w * v for w, v in zip(weights, V)],
                [w * x for w, x in zip(weights, W)],
                [w * y for w, y in zip(weights, Y)],
            )
            new, simulations, step = careful_step(problem, chi, proposal)
            V = problem.regressor_rows(problem.states(simulations))
            rho = [y - v @ new for y, v in zip(Y, V)]
            last, error = error, relative_error(rho, Y)
            history.append(Iteration(new, 100.0 * error, step))
            change, chi = new - chi, new
            steady = is_steady(last, error, self.tolerance)
            if step == 1.0 and steady and has_settled(change, covariance, self.settled, chi):
                converged = True
                break
        error = relative_error([y - w @ chi for y, w in zip(Y, W)], Y)
        return Outcome(
            chi, covariance, rho, condition, tuple(history), converged,
            {'relative_error_percent_measured_motion': 100.0 * error},
        )  # fmt: skip


def instrumental_solution(
    V: list[Array], W: list[Array], Y: list[Array]
) -> tuple[Array, Array, float]:
    """
    Return chi of V' Y = V' W chi, its covariance, and the condition number of V.

    Two QRs (eq. 34): Q_V' Q_W R_W chi = Q_V' Y, no normal matrix is formed; all factors must have
    full rank. The covariance is sigma^2 A^-1 A^-T with A = Q_V' W and sigma^2 from Y - W chi.
    """
    v, w, y = np.concatenate(V), np.concatenate(W), np.concatenate(Y)
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
