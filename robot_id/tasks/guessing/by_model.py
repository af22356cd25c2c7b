"""
Torques held against the robot's own inertias: side of the gear, unit, sign.

tau_j = s_j tau_rigid_j(q, dq, ddq) + Ia_j ddq_j + Fv_j dq_j + Fc_j sign(dq_j) + Off_j: the s_j
tell what one recorded unit is in N.m, as far as the inertias of the URDF are right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.robot import Robot

Array = NDArray[np.float64]
# States that are compared, and means over this many seconds before a derivative is taken.
STATES, SMOOTH_S = 800, 0.04
# Share of the torque that the rigid bodies must explain beside friction to be judged by.
EXPLAINED = 0.1


@dataclass(frozen=True)
class ByModel:
    """
    Torques against the model.

    :param scale: (n,) recorded over expected torque, NaN where the bodies explain too little.
    :param r2: (n,) share of the recorded torque that model and friction explain.
    """

    scale: Array
    r2: Array


def against_model(robot: Robot, time: Array, q: Array, tau: Array) -> ByModel | None:
    """
    Return how recorded torques compare, None where the robot file has no inertias.

    :param time: (N,) s.
    :param q: (N, n) rad or m, all joints of the robot.
    :param tau: (N, n) as recorded.
    """
    inertia = robot.kinematics.inertia
    if not np.any(inertia[:, 9] > 0.0) or len(time) < 50:
        return None
    step = float(np.median(np.diff(time)))
    if not step > 0.0:
        return None
    half = max(round(0.5 * SMOOTH_S / step), 1)
    x = _mean(q, half)
    dx = np.gradient(x, step, axis=0)
    ddx = np.gradient(_mean(dx, half), step, axis=0)
    rows = np.unique(np.linspace(4 * half, len(x) - 4 * half - 1, STATES).astype(int))
    if len(rows) < 20:
        return None
    states = (np.ascontiguousarray(each[rows]) for each in (x, dx, ddx))
    position, velocity, acceleration = states
    rigid = dynamics.body_torques(robot, inertia, position, velocity, acceleration)
    y = _mean(tau, half)[rows]
    n = robot.n
    scale, r2 = np.full(n, np.nan), np.zeros(n)
    for j in range(n):
        v = velocity[:, j]
        plain = np.column_stack([np.ones(len(v)), v, np.tanh(v / (0.05 * np.ptp(v) + 1e-9)),
                                 acceleration[:, j]])  # fmt: skip
        spread = float(np.var(y[:, j]))
        if not spread > 0.0 or not np.ptp(v) > 0.0:
            continue
        without = _left(plain, y[:, j])[0]
        left, solution = _left(np.column_stack([plain, rigid[:, j]]), y[:, j])
        r2[j] = 1.0 - left / spread
        if without - left > EXPLAINED * spread:
            scale[j] = solution[-1]
    return ByModel(scale, r2)


def _mean(x: Array, half: int) -> Array:
    """Return centred means over 2 half + 1 samples, ends repeated."""
    padded = np.pad(x, ((half, half), (0, 0)), mode='edge')
    total = np.cumsum(np.vstack([np.zeros(x.shape[1]), padded]), axis=0)
    return np.asarray((total[2 * half + 1 :] - total[: -2 * half - 1]) / (2 * half + 1))


def _left(A: Array, y: Array) -> tuple[float, Array]:
    """Return the mean square of what is left of y, and the solution."""
    solution = np.linalg.lstsq(A, y, rcond=None)[0]
    return float(np.mean((y - A @ solution) ** 2)), np.asarray(solution, float)
