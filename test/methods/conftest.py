"""Motions with a known truth: analytic multisines, torques of the exact inverse model, noise."""

import numpy as np
import pytest

from robot_id import dynamics
from robot_id.data import Dataset, Run
from robot_id.robot import load_robot


def multisine(n, duration, rate, seed=3, amplitude=0.5, base_hz=0.1, harmonics=12):
    """Return t, q, dq, ddq with exact derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(duration * rate)) / rate
    q, dq, ddq = (np.zeros((t.size, n)) for _ in range(3))
    for k in range(1, harmonics + 1):
        w = 2 * np.pi * base_hz * k * (1 + 0.01 * np.arange(n))
        a = amplitude * rng.normal(size=n) / np.sqrt(k)
        angle = t[:, None] * w + rng.uniform(0, 2 * np.pi, n)
        q += a * np.sin(angle)
        dq += a * w * np.cos(angle)
        ddq -= a * w**2 * np.sin(angle)
    return t, q, dq, ddq


@pytest.fixture(scope='session')
def robots():
    """Shipped robots by name, loaded once."""
    return {name: load_robot(name) for name in ('scara', 'tx40')}


@pytest.fixture(scope='session')
def simulate():
    """Return a function that makes a data set of a robot whose truth is known."""

    def make(
        robot, duration=10.0, rate=500.0, seed=0, torque=0.02, position=0.0, slope=None, **kw
    ):
        t, q, dq, ddq = multisine(robot.n, duration, rate, **kw)
        tau = dynamics.inverse_dynamics(robot, robot.truth(), q, dq, ddq, coulomb_slope=slope)
        rng = np.random.default_rng(seed)
        sigma = torque * np.sqrt(np.mean(tau**2, axis=0))
        tau = tau + sigma * rng.normal(size=tau.shape)
        q = q + position * rng.normal(size=q.shape)
        return Dataset(robot.joint_names, (Run(t, q, tau),), 'simulated')

    return make
