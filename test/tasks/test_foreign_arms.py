"""Arms simulated by MuJoCo: the defaults are near the best, and no method needs a known loop."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id.exceptions import RobotIdError
from robot_id.robot import load_robot
from robot_id.tasks.identify import Request, identify

pytest.importorskip('mujoco')
mujoco_arms = pytest.importorskip('plants.mujoco_arms')
mujoco_recordings = pytest.importorskip('plants.mujoco_recordings')

if mujoco_arms.robots_folder() is None:
    pytest.skip('example-robot-data is not installed', allow_module_level=True)


@pytest.fixture(scope='module')
def recordings(tmp_path_factory):
    """Return the robots and recordings of two arms, encoder steps and torque noise included."""
    folder, made = tmp_path_factory.mktemp('arms'), {}
    for name, rate, noise in (('a1', 200.0, 1.0), ('ur5', 125.0, 3.0)):
        rng = np.random.default_rng(7)
        arm = mujoco_arms.make_arm(name, folder, rng)
        motion = mujoco_recordings.Motion(seconds=16.0, rate=rate)
        recorded = mujoco_recordings.record(arm, rng, motion, noise=noise).dataset
        made[name] = load_robot(arm.robot_file), recorded
    return made


@pytest.mark.parametrize('name', ['a1', 'ur5'])
def test_the_default_is_near_the_best_of_a_sweep(recordings, name):
    robot, recorded = recordings[name]
    default = identify(Request(robot, recorded)).result
    assert default.verdict == 'usable', default.reasons
    errors = []
    for cutoff in (3.0, 8.0, 20.0):
        for band in (2.0, 8.0):
            options = {'cutoff_hz': cutoff, 'decimation': int(0.4 * recorded.rate / band)}
            done = identify(Request(robot, recorded, options=options))
            # Without a hold-out of its own the error is that of other rows.
            if done.holdout is not None:
                errors.append(done.result.holdout_error_percent)
    assert len(errors) >= 4
    assert default.holdout_error_percent < 1.25 * min(errors)


@pytest.mark.parametrize('method', ['idim_iv', 'didim', 'ekf'])
def test_without_a_loop_in_the_robot_file(recordings, method):
    robot, recorded = recordings['a1']
    wls = identify(Request(robot, recorded, holdout=0)).result
    found = identify(Request(robot, recorded, method, holdout=0)).result
    assert found.converged
    if method != 'ekf':
        assert any('a pd loop of 40 Hz is assumed' in line for line in found.warnings)
    assert found.relative_error_percent < 2.0 * wls.relative_error_percent


def answer(robot, recorded, method):
    """Return the verdict of a method, or its refusal."""
    try:
        return identify(Request(robot, recorded, method, holdout=0)).result.verdict
    except RobotIdError as error:
        return str(error)


@pytest.mark.parametrize('method', ['idim_wls', 'didim', 'ekf'])
def test_wrong_signs_end_in_one_line_or_a_verdict(recordings, method):
    robot, recorded = recordings['a1']
    runs = tuple(replace(run, torque=-run.torque) for run in recorded.runs)
    said = answer(robot, replace(recorded, runs=runs), method)
    assert said == 'do_not_use' or ('robot-id check' in said and '\n' not in said)
