"""The laws by their names, their gains, and a law that nobody has heard of before."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, get_args

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from robot_id.control import tune
from robot_id.control.laws import law_named
from robot_id.dynamics import Controller, Law, simulate
from robot_id.dynamics.kernels.closed_loop import closed_loop
from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.dynamics.simulation.law import torque_kernel
from robot_id.robot.files.description import LawName
from robot_id.trajectory import Reference


@pytest.mark.parametrize('name', get_args(LawName))
def test_every_name_of_a_robot_file_has_its_law(name, emps):
    law = law_named(name)
    assert law.name == name
    loop = emps.loop('learning').model_copy(update={'law': name})
    assert tune(emps, loop).law == law


def test_joint_gains_place_the_poles_of_the_joint(emps):
    """J q'' = kp kv (qr - q) - kv q' has the poles of wn and zeta (paper 000, eq. 41)."""
    loop = emps.loop().model_copy(update={'kp': None, 'kv': None, 'inertia': (95.0,)})
    wn, zeta = loop.bandwidth[0], loop.damping[0]
    controller = tune(emps, loop)
    Kp, Kv, _ = controller.law.feedback(controller)
    np.testing.assert_allclose([Kv[0] / 95.0, Kp[0] / 95.0], [2 * zeta * wn, wn**2], rtol=1e-12)


@pytest.mark.parametrize('law', ['pd', 'pd_cascade'])
def test_slopes_of_the_feedback_against_differences(law, scara):
    loop = scara.loop().model_copy(update={'law': law})
    chi = scara.truth()
    slopes = law_named(law).feedback_slopes(scara, loop, chi, 1.3)
    for i in range(len(chi)):
        h = 1e-6
        both = []
        for sign in (1, -1):
            moved = chi.copy()
            moved[i] += sign * h
            own = tune(scara, loop, moved, bandwidth_factor=1.3)
            both.append(own.law.feedback(own))
        for k in range(2):
            difference = (both[0][k] - both[1][k]) / (2 * h)
            np.testing.assert_allclose(slopes[k][:, i], difference, rtol=1e-5, atol=1e-5)


class ConstantSettings(NamedTuple):
    torque: np.ndarray


class ConstantMemory(NamedTuple):
    before: np.ndarray


@torque_kernel(ConstantSettings)
@numba.njit(**{**FAST, 'cache': False})
def constant_torque(settings, tree, memory, work, qr, dqr, ddqr, q, h, tau):
    for j in range(q.shape[0]):
        tau[j] = settings.torque[j]
        memory.before[0, j] = q[j]


@dataclass(frozen=True)
class Constant(Law):
    """The same torque whatever happens."""

    name: ClassVar[str] = 'constant'

    def tune(self, robot, loop, chi, bandwidth_factor):
        raise NotImplementedError

    def numbers(self, robot, controller):
        return ConstantSettings(controller.kp)

    def memory(self, robot, controller):
        return ConstantMemory(np.zeros((2, robot.n)))


def test_the_loop_runs_a_law_it_does_not_know(emps, monkeypatch):
    """A slide under a constant force and viscous friction, in closed form."""
    # The law of a test has no place in the cache of the package.
    monkeypatch.setattr(closed_loop, '_cache', NullCache())
    M, Fv, force = 95.0, 200.0, 30.0
    chi = np.zeros(4)
    chi[emps.base.index('M1')], chi[emps.base.index('Fv1')] = M, Fv
    t = np.arange(500) / 1000.0
    still = np.zeros((500, 1))
    controller = Controller(Constant(), np.array([force]), np.ones(1), 1000.0, np.ones(1))
    run = simulate(emps, chi, Reference(t, still, still, still), controller)
    closed = force / Fv * (t - M / Fv * (1.0 - np.exp(-Fv / M * t)))
    np.testing.assert_allclose(run.position[:, 0], closed, atol=1e-9)


def test_two_laws_cannot_share_the_name_of_their_numbers():
    class PdSettings(NamedTuple):
        kp: np.ndarray

    law_named('pd')
    with pytest.raises(TypeError, match="already uses the name 'PdSettings'"):
        torque_kernel(PdSettings)(lambda: None)
