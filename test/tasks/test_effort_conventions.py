"""What drivers call effort: each convention planted on a MuJoCo arm, named, and put right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_id.robot import load_robot
from robot_id.tasks.checks import check
from robot_id.tasks.checks.fixing import save_corrected

mujoco = pytest.importorskip('mujoco')
ARM = 'so100'


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """Return the robot, its recording, and what an effort is made of: gravity, gains, rating."""
    from plants.mujoco_arms import make_arm, robots_folder
    from plants.mujoco_recordings import compile_model, record

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    arm = make_arm(ARM, tmp_path_factory.mktemp('arm'))
    robot = load_robot(arm.robot_file)
    dataset = record(arm, np.random.default_rng(1)).dataset
    model = compile_model(arm.urdf, arm.gravity)
    data = mujoco.MjData(model)
    gravity = []
    for q in dataset.runs[0].position:
        data.qpos[:], data.qvel[:] = q, 0.0
        mujoco.mj_forward(model, data)
        gravity.append(data.qfrc_bias.copy())
    gain = np.random.default_rng(2).uniform(5.0, 20.0, robot.n)
    return robot, dataset, np.array(gravity), gain


def planted(recorded, kind):
    from plants.position_arm import as_effort

    robot, dataset, gravity, gain = recorded
    run = dataset.runs[0]
    tau = as_effort(kind, run.torque, gravity, gain, robot.limits.torque)
    return replace(dataset, runs=(replace(run, torque=tau),))


def test_a_joint_torque_is_no_finding(recorded):
    assert check(recorded[0], planted(recorded, 'torque')).codes == ()


@pytest.mark.parametrize(
    ('kind', 'code', 'word'),
    [
        ('gravity_free', 'gravity_removed', 'gravity: [0, 0, 0]'),
        ('current', 'gear_ratio', 'scale: drive_gain'),
        ('unsigned', 'unsigned_torque', 'signed channel'),
        ('zero', 'zero_torque', 'effort state interface'),
    ],
)
def test_each_convention_is_named(recorded, kind, code, word):
    findings = check(recorded[0], planted(recorded, kind))
    assert findings.codes[:1] == (code,)
    assert word in findings.findings[0].fix


def test_without_gravity_the_proposed_robot_file_is_right(recorded, tmp_path):
    robot, wrong = recorded[0], planted(recorded, 'gravity_free')
    save_corrected(tmp_path, robot, wrong, check(robot, wrong))
    corrected = load_robot(tmp_path / 'robot.yaml')
    assert not np.any(corrected.gravity)
    assert 'gravity_removed' not in check(corrected, wrong).codes


def test_currents_times_drive_gains_are_right(recorded):
    robot, _, _, gain = recorded
    wrong = planted(recorded, 'current')
    run = wrong.runs[0]
    right = replace(wrong, runs=(replace(run, torque=run.torque * gain),))
    assert check(robot, right).codes == ()
