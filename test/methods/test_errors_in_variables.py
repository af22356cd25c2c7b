"""Maximum likelihood with noise in the positions: no noise is WLS, much noise leaves no bias."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id import data
from robot_id.data import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.dynamics import Disturbances
from robot_id.exceptions import RobotIdError
from robot_id.methods import registry
from robot_id.methods.idim.idim_ml import IdimMl, noise_gains
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.robot import load_robot
from robot_id.tasks import perform, record
from robot_id.trajectory.default import motion_of


@pytest.mark.parametrize('name', ['scara', 'emps'])
def test_without_position_noise_it_is_weighted_least_squares(name):
    robot = load_robot(name)
    measured = record(robot, motion_of(robot, 'random', 6.0, 3), seed=1)
    wls = IdimWls(correct_attenuation=False).estimate(robot, measured)
    ml = IdimMl(position_std=0.0).estimate(robot, measured)
    assert np.array_equal(ml.values, wls.values)
    assert np.allclose(ml.std, wls.std, rtol=1e-9)
    # The same through the iteration, with a noise that is next to nothing.
    tiny = IdimMl(position_std=1e-12).estimate(robot, measured)
    assert np.all(np.abs(tiny.values - wls.values) < 1e-6 * wls.std)


def test_the_bias_of_noise_in_w_is_gone():
    """0.1 mm of white noise on EMPS positions and a filter far too wide: M1 is 25 kg too small."""
    robot, wide = load_robot('emps'), Processing(
        cutoff_hz=40, decimation=5, rest_band=0.02, torque_delay_s=0.0
    )  # fmt: skip
    noise = np.array([1e-4])
    errors = {IdimWls: [], IdimMl: []}
    for seed in range(3):
        spoilt = Disturbances(position_std=noise, torque_std=np.array([1.0]), seed=seed)
        run = perform(robot, motion_of(robot, 'random', 6.0, 3), disturbances=spoilt).to_run(1)
        measured = data.Dataset(robot.joint_names, (run,))
        for method, found in errors.items():
            known = {'position_std': 1e-4} if method is IdimMl else {}
            found.append(method(processing=wide, **known).estimate(robot, measured)['M1'] - 95.0)
    assert np.mean(errors[IdimWls]) < -20.0
    assert abs(np.mean(errors[IdimMl])) < 8.0


@pytest.mark.parametrize('decimation', [1, 10])
def test_noise_gains_are_what_white_noise_becomes(decimation):
    processing = Processing(cutoff_hz=30.0, decimation=decimation, border=60)
    G = noise_gains(processing, 1000.0)
    N = 40_000
    noise = np.random.default_rng(3).normal(size=(N, 1))
    parts = data.differentiate(data.Run(np.arange(N) / 1000.0, noise, noise), processing)
    rows = [x if decimation == 1 else data.decimate(x, decimation) for x in parts]
    measured = np.cov(np.stack([x[20:-20, 0] for x in rows]))
    scale = np.sqrt(np.diag(G))
    assert np.allclose(measured / np.outer(scale, scale), G / np.outer(scale, scale), atol=0.1)


@pytest.mark.parametrize('method', ['idim_ml', 'idim_wls', 'ekf', 'rls'])
def test_torques_that_are_all_zero_are_refused_or_unexplained(method):
    """No traceback: a line, or a result that says that nothing is explained."""
    robot = load_robot('scara')
    run = record(robot, seed=1).runs[0]
    silent = Dataset(robot.joint_names, (replace(run, torque=np.zeros_like(run.torque)),))
    try:
        result = registry.create(method, {}).estimate(robot, silent)
    except RobotIdError:
        return
    assert not np.any(np.abs(result.values) > 1e-6)
