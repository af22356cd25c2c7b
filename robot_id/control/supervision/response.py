"""
How a joint answers the swinging torque of a commissioning, against its model.

The torque of joint j over whole swings is tau = a A + b F + B + c: A = M_jj ddq_j is its own
inertial torque, F its own friction and B all the rest of the model; a, b and c are fitted. A right
joint has a = b = 1 and c = 0. A drive that gives g times its torque has a = b = 1 / g; a position
that is g times the true one has a = 1 / g and, with dry friction, b = 1; a gravity that the robot
carries itself, a load or a wrong zero is c. A torque that acts late fits best when it is shifted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.inverse import bias, inverse_dynamics
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Harmonics of the swing that the positions are smoothed to.
HARMONICS = 3
# Peak speed of the swing over the speed below which dry friction does not act fully.
STICKING = 50.0
# Longest delay that is tried [s]; one is believed that leaves at most this share of the residual.
LONGEST_DELAY_S, DELAYED = 0.03, 0.5
# Share of the variation of the torque that a term must have for its factor to be told: the
# geometric mean of the term as the model has it and as it is fitted.
LEAST_TERM = 0.25


@dataclass(frozen=True)
class Response:
    """
    The answer of a joint.

    :param inertia: the factor a; NaN where the motion does not tell it.
    :param friction: the factor b, likewise.
    :param constant: c [N.m or N]; `gravity` is that of the model, in the mean.
    :param delay_s: of the torque, 0 where none was found.
    """

    inertia: float
    friction: float
    constant: float
    gravity: float
    delay_s: float


def respond(
    robot: Robot, chi: Array, j: int, q: Array, tau: Array, period: float, swing_hz: float
) -> Response:
    """
    Return the answer of joint j.

    :param chi: (b,) the model.
    :param q: (L, n) positions and tau (L, n) torques that were sent, of whole swings.
    """
    lead = round(LONGEST_DELAY_S / period) + 1
    motion = _smooth(q, period, swing_hz)
    position, velocity, acceleration = (rows[lead:] for rows in motion)
    # A motor that a coupling drags along may stick: the sign of its noise is no friction.
    slope = STICKING / max(float(np.max(np.abs(velocity[:, j]))), 1e-12)
    whole = inverse_dynamics(robot, chi, position, velocity, acceleration, slope)[:, j]
    without = acceleration.copy()
    without[:, j] = 0.0
    own = whole - inverse_dynamics(robot, chi, position, velocity, without, slope)[:, j]
    held = velocity.copy()
    held[:, j] = 0.0
    moving = bias(robot, chi, position, velocity, slope)
    friction = (moving - bias(robot, chi, position, held, slope))[:, j]
    rest = whole - own - friction
    gravity = float(np.mean(bias(robot, chi, position, np.zeros_like(position))[:, j]))
    A = np.column_stack([own, friction, np.ones_like(own)])
    # Half of the torque of a sample acts before it, half after it.
    felt = tau[:, j].copy()
    felt[1:] = 0.5 * (tau[1:, j] + tau[:-1, j])
    fits = []
    for late in range(lead):
        b = felt[lead - late : len(felt) - late] - rest
        x = np.linalg.lstsq(A, b, rcond=None)[0]
        fits.append((float(np.sum((b - A @ x) ** 2)), x, b))
    # A delay does not turn the inertia around.
    right = [late for late in range(lead) if late == 0 or fits[late][1][0] > 0.0]
    best = min(right, key=lambda late: fits[late][0])
    if fits[best][0] > DELAYED * fits[0][0]:
        best = 0
    _, x, b = fits[best]
    delay = float(best)
    if 0 < best < lead - 1:
        # The lowest point of a parabola through the neighbours.
        before, least, after = (fits[late][0] for late in (best - 1, best, best + 1))
        delay += 0.5 * (before - after) / (before - 2.0 * least + after)
    told = [np.sqrt(abs(x[k])) * np.std(A[:, k]) > LEAST_TERM * np.std(b) for k in range(2)]
    inertia, rub = (float(x[k]) if told[k] else np.nan for k in range(2))
    return Response(inertia, rub, float(x[2]), gravity, delay * period)


def _smooth(q: Array, period: float, swing_hz: float) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations (L, n) of the harmonics of the swing."""
    t: Array = period * np.arange(len(q), dtype=float)
    one, none = np.ones(len(q)), np.zeros(len(q))
    # A joint that sinks slowly while it swings.
    columns: list[list[Array]] = [[one, none, none], [t, one, none], [t * t, 2.0 * t, 2.0 * one]]
    for k in range(1, HARMONICS + 1):
        w = 2.0 * np.pi * swing_hz * k
        s, c = np.sin(w * t), np.cos(w * t)
        columns += [[s, w * c, -w * w * s], [c, -w * s, -w * w * c]]
    basis: Array = np.array(columns)
    x = np.linalg.lstsq(basis[:, 0].T, q, rcond=None)[0]
    return basis[:, 0].T @ x, basis[:, 1].T @ x, basis[:, 2].T @ x
