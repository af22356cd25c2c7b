"""
Where a servo fit starts: the equation error of the recorded motion, joint by joint.

The drive gives the torque along the recorded positions, the inertias of the links their part of
it; what is left is linear in armature, viscous friction and the terms of the budget,

    filter(motor - rigid) = Ia ddq + Fv dq + sum c_i f_i(motor, external, film) sign(dq) + offset,

and is solved with Ia, Fv, c_i >= 0 for delays on a grid; the delay with the smallest residual is
kept. The estimates are biased by noise, but of the right size, and so the simulated loop starts
with natural frequency and damping of the real one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.signals.filters import zero_phase
from robot_id.dynamics.simulation.servo.drives import DRIVES
from robot_id.dynamics.simulation.servo.loop import ARMATURE, DELAY, FILM, FIRST_TERM, VISCOUS
from robot_id.dynamics.simulation.servo.recorded import recorded_torque
from robot_id.methods.torque_free.problem import Problem
from robot_id.methods.torque_free.servo_run import ServoRun
from robot_id.methods.torque_free.unknowns import Unknown
from robot_id.robot.friction.budget import TERMS

Array = NDArray[np.float64]
# The cut-off of the filter: a share of the rate, and Hz; above, differences are mostly noise.
CUTOFF_SHARE, LARGEST_CUTOFF, ORDER = 0.2, 15.0, 2
# Delays that are tried.
DELAYS = 21


@dataclass(frozen=True)
class _Motion:
    """A run with what its recorded positions tell, (N, n) each; velocity is not filtered."""

    run: ServoRun
    dq: Array
    ddq: Array
    rigid: Array
    external: Array
    velocity: Array


def equation_start(problem: Problem) -> tuple[Unknown, ...]:
    """Return the unknowns, those that no user gave a start with the start of the equation."""
    motions = [_motion(problem, run) for run in problem.runs]
    late = next((u for u in problem.unknowns if u.place == DELAY), None)
    delays: Array = np.array([problem.numbers[0, DELAY]])
    if late is not None and not late.given:
        delays = np.linspace(late.lower, late.upper, DELAYS)
    linear = {ARMATURE, VISCOUS, *range(FIRST_TERM, FIRST_TERM + len(TERMS))}
    columns = sorted({u.place for u in problem.unknowns} & linear)
    tried = [_solve(problem, motions, float(delay), columns) for delay in delays]
    best = int(np.argmin([error for error, _ in tried]))
    delay, found = delays[best], tried[best][1]
    return tuple(_started(u, float(delay), found, columns) for u in problem.unknowns)


def _started(unknown: Unknown, delay: float, found: Array, columns: list[int]) -> Unknown:
    if unknown.given:
        return unknown
    if unknown.place == DELAY:
        return replace(unknown, start=delay)
    if unknown.place not in columns:
        return unknown
    value = float(found[unknown.joints[0], columns.index(unknown.place)])
    if unknown.log:
        return replace(unknown, start=value) if value > 0.0 else unknown
    return replace(unknown, start=value, scale=max(unknown.scale, value))


def _motion(problem: Problem, run: ServoRun) -> _Motion:
    step = run.inputs.step
    q = _filtered(run.measured, step)
    dq = np.gradient(q, step, axis=0)
    ddq = np.gradient(dq, step, axis=0)
    standard = np.zeros(len(problem.robot.standard_names))
    standard[problem.robot.inertial_index] = problem.inertia
    chi = problem.robot.base.from_standard(standard)
    rigid, external = (
        dynamics.inverse_dynamics(problem.robot, chi, q, dq, a) for a in (ddq, 0.0 * ddq)
    )
    return _Motion(run, dq, ddq, rigid, external, np.gradient(run.measured, step, axis=0))


def _filtered(x: Array, step: float) -> Array:
    return zero_phase(x, ORDER, min(CUTOFF_SHARE / step, LARGEST_CUTOFF), 1.0 / step)


def _solve(
    problem: Problem, motions: list[_Motion], delay: float, columns: list[int]
) -> tuple[float, Array]:
    """Return the residual as a share of the torque, and (n, c) values of the columns."""
    numbers = problem.numbers.copy()
    numbers[:, DELAY] = delay
    kind = list(DRIVES).index(problem.drive.name)
    terms = list(TERMS.values())
    W, Y = [], []
    for one in motions:
        inputs = one.run.inputs
        torque = recorded_torque(kind, numbers, inputs, one.run.measured, one.velocity)
        motor = _filtered(torque, inputs.step)
        film = np.exp(-((one.dq / numbers[:, FILM]) ** 2))
        known = {ARMATURE: one.ddq, VISCOUS: one.dq}
        ones = np.ones_like(one.dq)
        parts = [
            known[place]
            if place in known
            else np.sign(one.dq) * terms[place - FIRST_TERM].value(motor, one.external, film)
            for place in columns
        ]
        W.append(np.stack([*parts, ones, -ones], axis=2))
        Y.append(motor - one.rigid)
    y, w = np.concatenate(Y), np.concatenate(W)
    found = np.empty((problem.robot.n, len(columns)))
    error = 0.0
    for j in range(problem.robot.n):
        sizes = np.maximum(np.linalg.norm(w[:, j], axis=0), 1e-300)
        x, rest = scipy.optimize.nnls(w[:, j] / sizes, y[:, j])
        found[j] = (x / sizes)[: len(columns)]
        error += rest**2 / max(float(y[:, j] @ y[:, j]), 1e-300)
    return error, found
