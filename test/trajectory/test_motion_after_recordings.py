"""A motion that adds to recordings: what they tell stands beside it, second for second."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import data
from robot_id.cli.main import cli
from robot_id.data.dataset import Dataset, Run
from robot_id.excitation.design import ExcitationOptions, make_objective
from robot_id.excitation.deviations import predict_deviations
from robot_id.excitation.recorded import Recorded, recorded
from robot_id.robot import load_robot
from robot_id.trajectory.random import random_trajectory


@pytest.fixture(scope='module')
def robot():
    return load_robot('scara')


@pytest.fixture(scope='module')
def motion(robot):
    return random_trajectory(robot.limits, 6.0, seed=2)


def states_of(motion, samples):
    return np.stack([part.T for part in motion.sampled_evenly(samples)])


def test_the_same_motion_again_is_no_better_and_twice_as_long(robot, motion):
    options = ExcitationOptions(seconds=motion.duration)
    N = make_objective(robot, options)[0].samples
    same = Recorded((states_of(motion, N),), (motion.duration / N,))
    alone, both = (make_objective(robot, options, None, known)[0] for known in (None, same))
    for name, value in alone.figures(motion).of_criterion.items():
        # Determinants are those of a second of information: sqrt(2) for two.
        factor = np.sqrt(2.0) if name == 'determinant' else 1.0
        assert both.figures(motion)[name] == pytest.approx(value / factor, rel=1e-6)


def test_the_gradient_holds_beside_recordings(robot):
    options = ExcitationOptions(seconds=4.0, kind='quintic')
    other = random_trajectory(robot.limits, 3.0, seed=7)
    known = Recorded((states_of(other, 200),), (3.0 / 200,))
    objective = make_objective(robot, options, None, known)[0]
    x = np.random.default_rng(1).normal(size=(objective.family.size, robot.n)).ravel()
    value, slope = objective(x, 2.0, 8.0)
    step = 1e-6 * np.random.default_rng(2).normal(size=x.size)
    difference = objective(x + step, 2.0, 8.0)[0] - objective(x - step, 2.0, 8.0)[0]
    assert np.isfinite(value)
    assert 0.5 * difference == pytest.approx(float(slope @ step), rel=1e-4)


def test_twice_the_rows_are_a_standard_deviation_less_by_the_root_of_two(robot, motion):
    reference = motion.sampled(200.0)
    parts = (reference.position, reference.velocity, reference.acceleration)
    known = Recorded((np.stack([part.T for part in parts]),), (reference.step,))
    noise = np.ones(robot.n)
    once, twice = (predict_deviations(robot, reference, noise, known=k) for k in (None, known))
    assert twice.std == pytest.approx(once.std / np.sqrt(2.0))


def test_a_joint_at_rest_tells_nothing_of_its_friction(robot):
    t = np.arange(0.0, 6.0, 0.004)
    noise = 1e-5 * np.random.default_rng(0).normal(size=t.size)
    q = np.stack([0.5 * np.sin(2.0 * t), 0.3 + noise])
    run = Run(time=t, position=q.T, torque=q.T)
    found = recorded(Dataset(robot.joint_names, (run,)), robot.limits.velocity)
    speeds = found.states[0][1]
    assert np.abs(speeds[0]).max() == pytest.approx(1.0, rel=0.02)
    assert not np.any(speeds[1])
    assert 5.0 < found.seconds < 6.0


def test_excite_after_a_recording_knows_what_it_lacks(robot, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference = random_trajectory(robot.limits, 4.0, seed=3).sampled(200.0)
    run = Run(time=reference.time, position=reference.position, torque=reference.position)
    data.save(Dataset(robot.joint_names, (run,), 'have'), 'have.csv')
    line = 'excite --robot scara --evaluations 40 --after have.csv --json e.json'
    done = CliRunner().invoke(cli, line.split())
    assert done.exit_code == 0, (done.output, done.exception)
    found = json.loads((tmp_path / 'e.json').read_text())
    assert 3.0 < found['after_s'] <= 4.0
    assert found['rehearsal'] is None
