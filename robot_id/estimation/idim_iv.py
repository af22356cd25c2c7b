"""IDIM-IV: the instrumental variable method with the simulated closed loop as instrument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from robot_id.estimation.estimated_loop import EstimatedLoopMethod
from robot_id.estimation.loop_problem import LoopProblem
from robot_id.estimation.loop_steps import (
    ShortSteps,
    careful_step,
    first_motion,
    has_settled,
    is_steady,
    relative_error,
)
from robot_id.estimation.outcome import Outcome
from robot_id.estimation.result import Iteration, history_text
from robot_id.progress import Progress
from robot_id.regression.instrumental import instrumental_covariance, instrumental_solution
from robot_id.regression.physical import Fitter
from robot_id.regression.system import System
from robot_id.regression.triangular import JointFactors

Array = NDArray[np.float64]


@dataclass(frozen=True)
class IdimIv(EstimatedLoopMethod):
    """
    Instrumental variables: V' Y = V' W chi, V the regressor of the simulated motion (paper 000).

    V has no measurement noise, so noise in W leaves no bias, filtered or not. The reported error
    is ||Y - V chi|| / ||Y|| as in the paper; the deviations use Y - W chi, the noise that V sees.
    """

    name: ClassVar[str] = 'idim_iv'
    measured_torque: ClassVar[bool] = True

    def solve(self, problem: LoopProblem, start: Array, progress: Progress) -> Outcome:
        """Iterate the instruments until the estimate settles."""
        names = problem.robot.base.names
        measured = problem.measured_states()
        torque = problem.joint_rows(problem.rows(lambda s: s.torque, measured))
        Y, W = problem.freed(torque), problem.freed(problem.regressor_rows(measured))
        chi = start
        V = problem.freed(problem.regressor_rows(first_motion(problem, start)))
        history: list[Iteration] = []
        error, converged = np.inf, False
        fitter = Fitter(problem.robot) if self.physical else None
        creeping = ShortSteps()
        for k in range(self.iterations):
            progress(k / self.iterations, history_text(history))
            weights, _ = System(JointFactors.of_rows(names, list(zip(V, Y)))).joint_weights()
            free, covariance, condition = instrumental_solution(
                [w * v for w, v in zip(weights, V)],
                [w * x for w, x in zip(weights, W)],
                [w * y for w, y in zip(weights, Y)],
            )
            proposal = free if fitter is None else fitter.project(free, covariance).chi
            new, simulations, step = careful_step(problem, chi, proposal)
            creeping.note(step)
            rows = problem.regressor_rows(problem.states(simulations))
            V = problem.freed(rows)
            rho = [y - v @ new for y, v in zip(torque, rows)]
            last, error = error, relative_error(rho, torque)
            history.append(Iteration(new, 100.0 * error, step))
            change, chi = new - chi, new
            steady = is_steady(last, error, self.tolerance)
            if step == 1.0 and steady and has_settled(change, covariance, self.settled, chi):
                converged = True
                break
        rest = [y - w @ chi for y, w in zip(Y, W)]
        error = relative_error(rest, Y)
        # The part of the residual that the reversals removed is put back.
        rest = [r * np.sqrt(len(r) / max(len(r) - c, 1)) for r, c in zip(rest, problem.taken)]
        if self.deviations != 'classical':
            v, w, rho_w = (
                problem.whole([g * x for g, x in zip(weights, parts)]) for parts in (V, W, rest)
            )
            drawn = self.deviations == 'bootstrap'
            covariance = instrumental_covariance(v, w, rho_w, drawn)
        return Outcome(
            chi,
            covariance,
            condition,
            residuals=rho,
            history=tuple(history),
            converged=converged,
            free=free if step == 1.0 else None,
            extras={'relative_error_percent_measured_motion': 100.0 * error},
        )
