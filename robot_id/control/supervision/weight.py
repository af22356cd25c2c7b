"""
What explains that joints are not held by the torques that the model says for their gravity.

A robot that carries a share s of its own gravity needs c = -s G(q) beyond the model, one whose
zero of joint i is off by d needs c = G(q - d e_i) - G(q). Both are fitted to the constants c of
all joints, in shares of the torque limits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.inverse import bias
from robot_id.robot import Robot

Array = NDArray[np.float64]
_TINY = 1e-30
# Share of the squared constants that an explanation may leave, and how much more than the best
# one does, or so little that it is as good.
UNEXPLAINED, AS_GOOD, EXACT = 0.2, 2.0, 0.01
# Explanations that are told, the best ones.
MOST = 2
# Share of its gravity that a robot carries: all of it, by a model that is not exact.
CARRIED = (0.5, 1.5)
# Zeros that are tried [rad].
ZEROS = np.delete(np.linspace(-0.5, 0.5, 61), 30) * np.pi


@dataclass(frozen=True)
class Explanation:
    """
    A mistake that explains constants.

    :param joint: whose constant shows it most, or whose zero is off.
    :param left: share of the squared constants that it leaves.
    :param text: in words.
    """

    joint: int
    left: float
    text: str


def explain_weight(
    robot: Robot, chi: Array, q: Array, constant: Array, limit: Array
) -> list[Explanation]:
    """
    Return what explains the constants, the best first, at most `MOST`.

    :param chi: (b,) the model.
    :param q: (n,) posture, as measured.
    :param constant: (n,) torque that held each joint, less what the model says; NaN where unknown.
    :param limit: (n,) torque limits.
    """
    known = np.isfinite(constant) & np.isfinite(limit)
    weight = np.where(known, 1.0 / np.where(known, limit, 1.0), 0.0)
    c = np.where(known, constant, 0.0) * weight
    whole = max(float(c @ c), _TINY)
    g = bias(robot, chi, q[None], np.zeros((1, robot.n)))[0]
    names = robot.joint_names
    heavy = g * weight
    share = -float(c @ heavy) / max(float(heavy @ heavy), _TINY)
    left = c + share * heavy
    found = []
    if CARRIED[0] < share < CARRIED[1]:
        said = f'the robot carries {share:.0%} of its gravity: take it out of the model'
        j = int(np.argmax(np.abs(heavy)))
        found.append(Explanation(j, float(left @ left) / whole, said))
    turning = np.ones(robot.n, bool)
    turning[robot.kinematics.dof[robot.kinematics.prismatic]] = False
    for i in np.flatnonzero(turning):
        turned = np.repeat(q[None], len(ZEROS), axis=0)
        turned[:, i] -= ZEROS
        needed = bias(robot, chi, turned, np.zeros_like(turned)) - g
        apart = np.sum((needed * weight - c) ** 2, axis=1)
        k = int(np.argmin(apart))
        said = f"the zero of joint '{names[i]}' is off by about {ZEROS[k]:.2g} rad"
        found.append(Explanation(int(i), float(apart[k]) / whole, said))
    found = sorted(found, key=lambda each: each.left)[:MOST]
    least = min(UNEXPLAINED, max(AS_GOOD * found[0].left, EXACT)) if found else 0.0
    return [each for each in found if each.left <= least]
