"""The SCARA against the closed form of paper 000, eq. 52 and 53."""

import numpy as np
from random_robots import random_states

from robot_id import dynamics
from robot_id.robot import load_robot


def test_regressor_is_equation_53():
    robot = load_robot('scara')
    q, dq, ddq = random_states(np.random.default_rng(0), robot, 100)
    (_, q2), (v1, v2), (a1, a2) = q.T, dq.T, ddq.T
    zero, c, s = np.zeros(100), np.cos(q2), np.sin(q2)
    rows = [
        [
            a1, v1, np.sign(v1), a1 + a2,
            (2 * a1 + a2) * c - v2 * (2 * v1 + v2) * s,
            -(2 * a1 + a2) * s - v2 * (2 * v1 + v2) * c,
            zero, zero,
        ],
        [zero, zero, zero, a1 + a2, a1 * c + v1**2 * s, v1**2 * c - a1 * s, v2, np.sign(v2)],
    ]  # fmt: skip
    expected = np.array(rows).transpose(2, 0, 1)
    W = dynamics.regressor(robot, q, dq, ddq)
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-12)


def test_loop_inertias_of_the_paper():
    robot = load_robot('scara')
    chi = robot.truth()
    ZZ1R, ZZ2R, LMX2 = (chi[robot.base.index(name)] for name in ('ZZ1R', 'ZZ2R', 'LMX2'))
    M = dynamics.inertia_matrix(robot, chi, np.zeros(2))
    np.testing.assert_allclose(np.diag(M), [ZZ1R + ZZ2R + 2 * LMX2, ZZ2R], rtol=1e-12)
