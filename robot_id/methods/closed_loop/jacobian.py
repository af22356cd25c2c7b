"""How the simulated closed loop depends on the parameters, as decimated rows."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics import Controller, Simulation
from robot_id.dynamics.simulation.controller import Feedback
from robot_id.dynamics.simulation.sensitivity import loop_sensitivities
from robot_id.exceptions import IdentificationError
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.methods.closed_loop.reference import LoopRun

Array = NDArray[np.float64]
Output = Literal['position', 'torque']


def linear_feedback(controller: Controller) -> Feedback:
    """
    Return the gains of the torque that the sensitivities need.

    :raises IdentificationError: for a law that is no linear feedback of the joints.
    """
    feedback = controller.law.feedback(controller)
    if feedback is None:
        raise IdentificationError(
            f"the law '{controller.law.name}' has no sensitivities: use a loop with a PD law"
        )
    return feedback


def loop_jacobian(
    problem: LoopProblem,
    chi: Array,
    simulations: list[Simulation],
    feedback: Feedback,
    gain_slopes: tuple[Array, Array] | None,
    output: Output,
) -> list[Array]:
    """
    Return d q_j/d chi or d tau_j/d chi as decimated rows (r_j, b) of every joint.

    :param feedback: gains of the torque on position and velocity.
    :param gain_slopes: (n, b) how these follow the parameters, None for fixed gains.
    """
    rows = whole_jacobian(problem, chi, simulations, feedback, gain_slopes, (output,))[0]
    return by_joint(problem, rows)


def by_joint(problem: LoopProblem, rows: Array) -> list[Array]:
    """Return the used rows of every joint, (r_j, b), of (R, n, b) ones."""
    return [rows[problem.used[:, j], j] for j in range(problem.robot.n)]


def following_jacobian(
    problem: LoopProblem, chi: Array, simulations: list[Simulation], outputs: tuple[Output, ...]
) -> list[Array]:
    """(R, n, b) slopes of each output, decimated rows, with gains that follow chi."""
    own = problem.controller(chi)
    slopes = own.law.feedback_slopes(problem.robot, problem.loop, chi, problem.bandwidth_factor)
    return whole_jacobian(problem, chi, simulations, linear_feedback(own), slopes, outputs)


def whole_jacobian(
    problem: LoopProblem,
    chi: Array,
    simulations: list[Simulation],
    feedback: Feedback,
    gain_slopes: tuple[Array, Array] | None,
    outputs: tuple[Output, ...],
) -> list[Array]:
    """(R, n, b) slopes of each output as decimated rows, those of the rest band included."""
    rows: list[list[Array]] = [[] for _ in outputs]
    for r, s in zip(problem.runs, simulations):
        coarse = coarse_step(problem.factor, r.run.rate)
        pick = slice(None, None, coarse * r.every)
        q, dq, ddq = s.position[pick], s.velocity[pick], s.acceleration[pick]
        effect: Array | float = 0.0
        if gain_slopes is not None:
            e = s.reference.position[pick] - q
            feed = s.reference.velocity[pick] if feedback.feeds_velocity else 0.0
            effect = e[:, :, None] * gain_slopes[0]
            effect += (feed - dq)[:, :, None] * gain_slopes[1]
        S, T = loop_sensitivities(
            problem.robot, chi, q, dq, ddq, coarse * r.run.step, feedback[:2], effect,
            problem.slope,
        )  # fmt: skip
        for part, output in zip(rows, outputs):
            sensitivity = S if output == 'position' else T
            part.append(sensitivity_rows(problem, r, sensitivity, coarse))
    return [np.concatenate(parts) for parts in rows]


def sensitivity_rows(problem: LoopProblem, r: LoopRun, slopes: Array, coarse: int) -> Array:
    """(M, n, p) decimated rows of (N, n, p) sensitivities on a grid of `coarse` samples."""
    first, last = r.first // coarse, -(-r.last // coarse)
    flat = slopes[first:last].reshape(-1, slopes[0].size)
    kept = problem.reduce(flat, problem.factor // coarse)
    kept = problem.inner(kept[: -(-(r.last - r.first) // problem.factor)])
    return kept.reshape(-1, *slopes.shape[1:])


def coarse_step(factor: int, rate: float, lowest_rate: float = 200.0) -> int:
    """Return the largest divisor of the decimation that leaves at least the lowest rate."""
    fitting = [d for d in range(1, factor + 1) if factor % d == 0 and rate / d >= lowest_rate]
    return max(fitting, default=1)
