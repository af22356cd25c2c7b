"""`physical=true` of the methods: what a result holds, and what it costs."""

import json

import numpy as np
import pytest

from robot_id.control.tuning import tune
from robot_id.data import Dataset, Run
from robot_id.dynamics import Disturbances, inverse_dynamics, simulate
from robot_id.exceptions import OptionError
from robot_id.methods import registry
from robot_id.methods.consistency import project, standard_of
from robot_id.methods.result import Result
from robot_id.regression.consistency.pseudo_inertia import smallest_eigenvalues
from robot_id.robot import load_robot
from robot_id.tasks.validation import validate
from robot_id.trajectory.random import random_trajectory


def recording(robot, seconds=6.0, noise=0.03, seed=0):
    """Return a random trajectory with the torques of the truth and noise."""
    t = np.arange(int(500 * seconds)) / 500.0
    q, dq, ddq = random_trajectory(robot.limits, seconds).sample(t)
    tau = inverse_dynamics(robot, robot.truth(), q, dq, ddq)
    rng = np.random.default_rng(seed)
    tau += noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return Dataset(robot.joint_names, (Run(t, q, tau, dq),), 'simulated')


def check(robot, result):
    """Assert that a result is a consistent robot, and that its two sets of parameters agree."""
    x = standard_of(robot, result)
    assert np.allclose(robot.base.from_standard(x), result.values, rtol=1e-9, atol=1e-12)
    assert np.all(smallest_eigenvalues(robot.standard.inertial_rows(x)) > 0)
    for p in result.standard_parameters:
        assert p['interval'][0] <= p['value'] <= p['interval'][1]
        assert p['data_share'] + p['prior_share'] == pytest.approx(1.0)


@pytest.mark.parametrize('method', ['idim_ols', 'idim_wls', 'idim_irls', 'idim_tls'])
def test_linear_methods_find_a_possible_tx40(method, tmp_path):
    robot = load_robot('tx40')
    data, other = recording(robot, noise=0.2), recording(robot, noise=0.2, seed=1)
    free = registry.create(method).estimate(robot, data)
    result = registry.create(method, {'physical': 'true'}).estimate(robot, data)
    check(robot, result)
    assert result.physical['consistent']
    assert np.allclose(result.std, free.std, rtol=0.2)
    errors = [validate(robot, r, other).torque_relative_error_percent for r in (free, result)]
    assert errors[1] <= 1.02 * errors[0]
    result.save(tmp_path / 'r.json')
    content = json.loads((tmp_path / 'r.json').read_text())
    assert {'consistent', 'statistic', 'degrees_of_freedom', 'p_value', 'pulling', 'meaning'} <= (
        set(content['physical'])
    )
    assert Result.load(tmp_path / 'r.json').standard_parameters == result.standard_parameters


@pytest.mark.parametrize('method', ['idim_iv', 'didim', 'rls', 'ekf'])
def test_other_methods_are_possible_too(method):
    robot = load_robot('scara')
    data = recording(robot, 4.0)
    result = registry.create(method, {'physical': True}).estimate(robot, data)
    check(robot, result)


def closed_loop(robot):
    """Return a recording of the robot in its own loop, with the noise of its file."""
    loop = robot.loop()
    reference = random_trajectory(robot.limits, 4.0, share=0.5).sampled(loop.rate_hz)
    noise = Disturbances.of_robot(robot)
    made = simulate(robot, robot.truth(), reference, tune(robot, loop), disturbances=noise)
    return Dataset(robot.joint_names, (made.to_run(),), 'simulated')


@pytest.mark.parametrize('name', ['emps', 'scara'])
def test_methods_of_the_loop_and_filters_are_possible_too(name):
    robot = load_robot(name)
    data = closed_loop(robot)
    for method in ('didim', 'cloe', 'clie', 'ukf', 'cdkf', 'ckf', 'sr_ekf', 'idim_ml'):
        result = registry.create(method, {'physical': True}).estimate(robot, data)
        check(robot, result)
        assert result.converged, method
        assert result.physical['consistent'], method
        apart = np.linalg.norm(result.values - robot.truth()) / np.linalg.norm(robot.truth())
        assert apart < 0.05, method


def test_projection_of_an_impossible_result_moves_as_little_as_it_can():
    robot = load_robot('scara')
    chi = robot.truth()
    covariance = np.diag((0.02 * np.abs(chi) + 1e-4) ** 2)
    chi[robot.base.index('Fv2')] = -0.001
    result = Result('scara', 'idim_wls', robot.base.names, chi, covariance)
    possible = project(robot, result)
    check(robot, possible)
    assert possible['Fv2'] > 0
    others = [k for k, name in enumerate(robot.base.names) if name != 'Fv2']
    assert np.all(np.abs(possible.values - chi)[others] < 0.1 * result.std[others])


def test_essential_and_physical_exclude_each_other():
    with pytest.raises(OptionError, match='essential'):
        registry.create('idim_wls', {'physical': True, 'essential': True})


def test_deviations_of_standard_parameters_count_a_coloured_residual():
    # What is a standard and a base parameter at once, and told by the data, has one deviation.
    robot = load_robot('scara')
    data = recording(robot, 20.0, noise=0.0)
    run = data.runs[0]
    slow = np.cumsum(np.random.default_rng(3).normal(size=run.torque.shape), axis=0)
    torque = run.torque + 0.02 * slow / slow.std(axis=0) * run.torque.std(axis=0)
    data = Dataset(robot.joint_names, (Run(run.time, run.position, torque, run.velocity),), 'x')
    result = registry.create('idim_wls', {'physical': True}).estimate(robot, data)
    own = {p['name']: p for p in result.standard_parameters}
    for name, std in zip(result.names, result.std):
        if name in own and own[name]['data_share'] > 0.99:
            assert own[name]['std'] == pytest.approx(std, rel=0.2)
    assert sum(own[n]['data_share'] > 0.99 for n in result.names if n in own) >= 3
