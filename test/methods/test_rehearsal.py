"""Predicted deviations against an identification as a user would make it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import dynamics
from robot_id.cli.main import cli
from robot_id.dynamics import Disturbances
from robot_id.excitation.assumed_drives import drives_assumed
from robot_id.excitation.design import ExcitationOptions, excite
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.robot import load_robot
from robot_id.tasks import record
from robot_id.tasks.rehearsal import rehearsed
from robot_id.trajectory import Quintic


@pytest.mark.parametrize(
    ('name', 'evaluations'), [('emps', '40'), ('scara', '80'), ('tx40', '80')]
)
def test_excite_predicts_what_identify_reports(tmp_path: Path, monkeypatch, name, evaluations):
    """Three commands with their defaults: the noise of the robot file, the loop, the filters."""
    monkeypatch.chdir(tmp_path)
    for line in (
        f'excite --robot {name} --evaluations {evaluations} --out m.csv --json e.json',
        f'simulate --robot {name} --trajectory m.csv --seed 5 --out run.csv',
        f'identify --robot {name} --data run.csv --json r.json',
    ):
        done = CliRunner().invoke(cli, line.split())
        assert done.exit_code == 0, (line, done.output, done.exception)
    predicted, found = (json.loads(Path(f).read_text()) for f in ('e.json', 'r.json'))
    assert predicted['prediction'] == 'rehearsal'
    stds = [[p['std'] for p in data['parameters']] for data in (found, predicted)]
    # Deviations from the residual as it is scatter themselves, the more the fewer the rows: one
    # sample with the wrong sign of a creeping joint makes those of the joint four times larger,
    # and which motion a search finds depends on the last digits.
    ratio = np.array(stds[1]) / np.array(stds[0])
    assert 0.5 < np.median(ratio) < 2.0
    assert np.all((ratio > 0.1) & (ratio < 10.0)), ratio
    # Not the formula for white torque noise, which is far too good on the TX40.
    assert any('from a simulated identification' in note for note in predicted['notes'])


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_a_larger_torque_noise_is_predicted_too(name):
    robot = load_robot(name)
    noise = 0.01 * robot.limits.torque
    options = ExcitationOptions(evaluations=60, workers=1, torque_std=tuple(noise))
    formula = excite(robot, options)
    assert formula.prediction == 'torque noise'
    found = rehearsed(robot, formula)
    assert found.prediction == 'rehearsal'
    # Deviations that come from the residual scatter themselves, and the probability of another
    # law of friction, which widens those of its joint, scatters most: a mean of three.
    reported = []
    for seed in (7, 8, 9):
        noisy = replace(Disturbances.of_robot(robot, seed), torque_std=noise)
        recorded = record(robot, found.trajectory, disturbances=noisy)
        reported.append(IdimWls().estimate(robot, recorded).std)
    ratio = found.deviations.std / np.mean(reported, axis=0)
    assert 0.7 < np.median(ratio) < 1.3
    assert np.all((ratio > 1 / 3) & (ratio < 3.0)), ratio


def test_without_a_loop_a_soft_one_is_rehearsed_and_a_note_says_so():
    robot = load_robot('scara')
    found = excite(robot, ExcitationOptions(evaluations=60, workers=1))
    robot.description.loops.clear()
    same = rehearsed(robot, found)
    assert same.prediction == 'rehearsal'
    assert any('soft loop' in note for note in same.notes)


def test_the_verdict_on_the_rehearsal_is_that_of_its_recording():
    """A motion that excites is usable; one whose elbow hardly moves is not."""
    robot = load_robot('scara')
    good = rehearsed(robot, excite(robot, ExcitationOptions(evaluations=60, workers=1)))
    assert good.rehearsal.verdict == 'usable'
    stiff = Quintic([[-0.5, 0.2], [0.5, 0.201], [-0.5, 0.2]], 4.0)
    poor = rehearsed(robot, replace(good, search=replace(good.search, trajectory=stiff)))
    assert poor.rehearsal is None or poor.rehearsal.verdict != 'usable'


def test_a_motion_leaves_room_for_drives_that_a_urdf_does_not_know(tmp_path):
    from plants.mujoco_arms import chain_urdf, robots_folder

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    robot = load_robot(chain_urdf('ur5', tmp_path / 'ur5.urdf'))
    added = drives_assumed(robot, robot.truth())
    named = dict(zip(robot.base.names, added))
    assert all(named[f'F{term}{j}'] > 0.0 for term in 'vc' for j in range(1, 7))
    # Nothing else than rotors and friction: rigid columns without a rotor stay.
    assert all(named[name] == 0.0 for name in named if name.startswith(('XX', 'MX', 'XY', 'MY')))
    found = excite(robot, ExcitationOptions(evaluations=40, workers=1))
    assert any('rotors and friction are not known' in note for note in found.notes)
    states = found.trajectory.sample(np.linspace(0.0, found.trajectory.duration, 2000))
    tau = dynamics.inverse_dynamics(robot, robot.truth() + added, *states)
    assert np.all(np.abs(tau) <= 0.95 * robot.limits.torque)
