"""Every friction term of the registry: its functions, and what the kernels make of them."""

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id import dynamics
from robot_id.dynamics.acting_rows import acting_columns
from robot_id.dynamics.regressor import parameter_jacobian
from robot_id.exceptions import DescriptionError, OptionError
from robot_id.robot import load_robot
from robot_id.robot.friction import COLUMNS, TERMS, parse_terms
from robot_id.robot.friction.functions import smooth_sign
from robot_id.robot.friction.replacement import with_friction

ALL = [pytest.param(term, column, id=column.name) for term, column in COLUMNS]
STRUCTURES = (
    ('viscous', 'coulomb', 'offset', 'quadratic', 'load', 'load_viscous', 'stribeck'),
    ('asymmetric_viscous', 'asymmetric_coulomb', 'load'),
    ('viscous', 'smooth_coulomb', 'stribeck', 'temperature_viscous', 'temperature_coulomb'),
)


class Scalar:
    """A number that is no float: what a tracer of the equations is to a term."""

    def __init__(self, value):
        self.value = float(value)

    def __mul__(self, other):
        return Scalar(self.value * getattr(other, 'value', other))

    def __add__(self, other):
        return Scalar(self.value + getattr(other, 'value', other))

    def __truediv__(self, other):
        return Scalar(self.value / getattr(other, 'value', other))

    def __sub__(self, other):
        return Scalar(self.value - getattr(other, 'value', other))

    def __rsub__(self, other):
        return Scalar(other - self.value)

    def __rtruediv__(self, other):
        return Scalar(other / self.value)

    def __neg__(self):
        return Scalar(-self.value)

    def __abs__(self):
        return Scalar(abs(self.value))

    __rmul__, __radd__ = __mul__, __add__

    def atan(self):
        return Scalar(np.arctan(self.value))

    def exp(self):
        return Scalar(np.exp(self.value))

    def sign(self):
        return Scalar(np.sign(self.value))


@pytest.mark.parametrize(('term', 'column'), ALL)
@settings(max_examples=30, deadline=None)
@given(x=st.floats(0.01, 3.0), side=st.sampled_from([-1.0, 1.0]), s=st.floats(0.05, 0.95))
def test_slopes_are_those_of_the_value(term, column, x, side, s):
    x, s, h = x * side, s * side, 1e-6
    c = 0.7 if term.constant is None else max(term.constant.default, 0.5)
    by_x, by_s = column.slopes(x, s, c)
    assert by_x == pytest.approx(
        (column.value(x + h, s, c) - column.value(x - h, s, c)) / (2 * h), abs=1e-5
    )
    assert by_s == pytest.approx(
        (column.value(x, s + h, c) - column.value(x, s - h, c)) / (2 * h), abs=1e-5
    )
    traced = column.value(Scalar(x), Scalar(s), c)
    assert getattr(traced, 'value', traced) == pytest.approx(column.value(x, s, c))


def dressed(name, terms, seed=0):
    """Return a robot with these terms, parameters, states; masses of its truth."""
    robot = load_robot(name)
    plain = robot.truth()
    other = with_friction(robot, dict.fromkeys(robot.joint_names, terms))
    rng = np.random.default_rng(seed)
    known = dict(zip(robot.base.names, plain))
    chi = np.array([known.get(n, rng.uniform(0.05, 0.2)) for n in other.base.names])
    states = [rng.normal(0, 1, (5, robot.n)) for _ in range(3)]
    return other.with_load(chi).at_temperature(40.0), chi, states


@pytest.mark.parametrize('terms', STRUCTURES)
@pytest.mark.parametrize('name', ['scara', 'tx40'])
def test_the_models_agree(name, terms):
    robot, chi, (q, dq, ddq) = dressed(name, terms)
    for slope in (None, 20.0):
        tau = dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope)
        size = np.abs(tau).max()
        W = dynamics.regressor(robot, q, dq, ddq, slope)
        np.testing.assert_allclose(W @ chi, tau, rtol=0, atol=1e-10 * size)
        back = dynamics.direct_dynamics(robot, chi, q, dq, tau, slope)
        np.testing.assert_allclose(back, ddq, rtol=0, atol=1e-7 * np.abs(ddq).max())
    # Term by term in plain Python, from the rigid torque of a robot without friction.
    bare = with_friction(robot, dict.fromkeys(robot.joint_names, ()))
    values = dict(zip(robot.base.names, chi))
    y = dynamics.inverse_dynamics(bare, np.array([values[n] for n in bare.base.names]), q, dq, ddq)
    expected = y.copy()
    for j, joint in enumerate(robot.joints):
        for term in map(TERMS.get, joint.friction):
            m = {'none': 1.0, 'load': np.abs(y[:, j]), 'temperature': 15.0}[term.modulation]
            for column in term.columns:
                f = column.value(
                    dq[:, j], smooth_sign(dq[:, j], 20.0), joint.constant_of(term.name)
                )
                expected[:, j] += values[column.name.format(j + 1)] * m * f
    if name == 'scara':  # no coupled motors
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize('terms', STRUCTURES)
def test_derivatives_by_states_and_parameters(terms):
    robot, chi, (q, dq, ddq) = dressed('scara', terms, seed=3)
    dq = np.where(np.abs(dq) < 0.2, 0.3, dq)

    def tau(values, *states):
        return dynamics.inverse_dynamics(robot, values, *states, 20.0)

    h = 1e-6
    by_q, by_dq, by_ddq = dynamics.derivatives(robot, chi, q, dq, ddq, 20.0)
    for j in range(robot.n):
        e = np.zeros(robot.n)
        e[j] = h
        for slope, up, down in (
            (by_q, (q + e, dq, ddq), (q - e, dq, ddq)),
            (by_dq, (q, dq + e, ddq), (q, dq - e, ddq)),
            (by_ddq, (q, dq, ddq + e), (q, dq, ddq - e)),
        ):
            difference = (tau(chi, *up) - tau(chi, *down)) / (2 * h)
            np.testing.assert_allclose(slope[:, :, j], difference, rtol=1e-5, atol=1e-5)
    J = parameter_jacobian(robot, chi, q, dq, ddq, 20.0)
    for k in range(len(chi)):
        e = np.zeros(len(chi))
        e[k] = 1e-6 * max(abs(chi[k]), 1.0)
        difference = (tau(chi + e, q, dq, ddq) - tau(chi - e, q, dq, ddq)) / (2 * e[k])
        np.testing.assert_allclose(J[:, :, k], difference, rtol=1e-5, atol=1e-5)


def test_a_small_stribeck_velocity_keeps_its_parameter():
    terms = ('viscous', 'coulomb', 'offset', 'stribeck')
    robot = with_friction(
        load_robot('emps'), {'carriage': terms}, {'carriage': {'stribeck': 1e-3}}
    )
    assert robot.base.names == ('M1', 'Fv1', 'Fc1', 'Fs1', 'Off1')
    assert acting_columns(robot)[0].size == 5


def test_bad_terms_are_refused_by_name():
    with refused(OptionError, code='no_term'):
        parse_terms('viscos,coulomb')
    robot = load_robot('scara')
    with refused(DescriptionError, joint='shoulder'):
        with_friction(robot, {'shoulder': ['coulomb', 'smooth_coulomb']})
    with refused(DescriptionError, joint='sholder'):
        with_friction(robot, {'sholder': ['coulomb']})
