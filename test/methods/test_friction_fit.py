"""Friction that is not linear: a simulated plant is recovered, and a choice is kept in files."""

import json
from dataclasses import replace

import numpy as np
import pytest

from robot_id import dynamics
from robot_id.control import tune
from robot_id.data import Dataset, Run
from robot_id.exceptions import OptionError
from robot_id.methods.parameters import parameters_for, robot_for
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from robot_id.robot.friction.replacement import with_friction
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.validation import validate
from robot_id.trajectory.random import random_trajectory

NAMES = ('shoulder', 'elbow')
ADDED = {'Fl': 0.08, 'Fs': 0.4, 'Fc+': 0.6, 'Fc-': 0.4}


def plant(terms, constants=None):
    """Return a SCARA with these terms and its parameters, those added by ADDED."""
    robot = load_robot('scara')
    known = dict(zip(robot.base.names, robot.truth()))
    other = with_friction(robot, dict.fromkeys(NAMES, terms), constants)

    def value(name):
        stem = ''.join(c for c in name if not c.isdigit())
        return ADDED.get(stem, known.get(name, 0.0))

    chi = np.array([value(name) for name in other.base.names])
    return other.with_load(chi), chi


def recorded(robot, chi, seed=1, seconds=12.0):
    """Return a run of the plant with exact motion and noise on the torque alone."""
    loop = robot.loop()
    reference = random_trajectory(robot.limits, seconds).sampled(loop.rate_hz)
    run = dynamics.simulate(robot, chi, reference, tune(robot, loop, chi), coulomb_slope=2000.0)
    tau = dynamics.inverse_dynamics(robot, chi, run.position, run.velocity, run.acceleration)
    rng = np.random.default_rng(seed)
    noisy = tau + rng.normal(0, 0.02, tau.shape)
    simulated = run.to_run()
    return Dataset(robot.joint_names, (replace(simulated, position=run.position, torque=noisy),))


def along_the_motion(robot, chi, seed=1):
    """Return torques of the plant, with noise, along a motion that is known exactly."""
    motion = random_trajectory(robot.limits, 20.0).sampled(1000.0)
    states = motion.position, motion.velocity, motion.acceleration
    tau = dynamics.inverse_dynamics(robot, chi, *states)
    tau = tau + np.random.default_rng(seed).normal(0, 0.05, tau.shape)
    return Dataset(robot.joint_names, (Run(motion.time, motion.position, tau),))


def test_stribeck_load_and_asymmetric_friction_are_recovered():
    terms = ('asymmetric_coulomb', 'viscous', 'stribeck', 'load')
    constants = {name: {'stribeck': 0.5} for name in NAMES}
    truth, chi = plant(terms, constants)
    data = along_the_motion(truth, chi)
    found = identify(Request(load_robot('scara'), data, friction=','.join(terms)))
    result = found.result
    assert result.names == truth.base.names
    for one in result.friction['constants']:
        assert abs(one['value'] - 0.5) < max(3.0 * one['std'], 0.05), one
    error = np.abs(result.values - chi)
    assert np.all(error < np.maximum(4.0 * result.std, 0.05 * np.abs(chi))), dict(
        zip(result.names, zip(result.values, chi, result.std))
    )


def test_auto_takes_what_the_plant_has_and_nothing_else(tmp_path):
    truth, chi = plant(('viscous', 'coulomb', 'load'))
    data = recorded(truth, chi)
    found = identify(Request(load_robot('scara'), data, friction='auto'))
    terms = found.result.friction['terms']['elbow']
    assert 'load' in terms
    assert 'quadratic' not in terms
    selection = found.result.friction['selection']
    assert selection['candidates'][0]['cross_validated_percent'] > 0.0
    assert 'load' in selection['reason']
    path = tmp_path / 'r.json'
    found.result.save(path)
    assert json.loads(path.read_text())['friction']['terms']['elbow'] == terms
    kept = Result.load(path)
    rebuilt = robot_for(load_robot('scara'), kept)
    np.testing.assert_allclose(parameters_for(rebuilt, kept), found.result.values)
    error = validate(load_robot('scara'), kept, data).torque_relative_error_percent
    assert error == pytest.approx(found.result.relative_error_percent, rel=0.1)


def test_a_plain_plant_gets_no_term():
    robot = load_robot('scara')
    data = recorded(robot, robot.truth())
    found = identify(Request(robot, data, friction='auto'))
    assert set(found.result.friction['terms']['elbow']) == {'viscous', 'coulomb', 'offset'}


def test_methods_that_cannot_refuse_by_name():
    robot = load_robot('scara')
    data = recorded(robot, robot.truth(), seconds=4.0)
    with pytest.raises(OptionError, match="method 'integral' cannot have load-dependent"):
        identify(Request(robot, data, 'integral', friction='viscous,coulomb,load'))
    with pytest.raises(OptionError, match="method 'rls' cannot have temperature-dependent"):
        identify(Request(robot, data, 'rls', friction='viscous,temperature_viscous'))
