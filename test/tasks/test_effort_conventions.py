"""What drivers call effort: each convention planted on a MuJoCo arm, named, and put right."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_id import data
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing
from robot_id.methods.idim.idim_wls import IdimWls
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
    state = mujoco.MjData(model)
    gravity = []
    for q in dataset.runs[0].position:
        state.qpos[:], state.qvel[:] = q, 0.0
        mujoco.mj_forward(model, state)
        gravity.append(state.qfrc_bias.copy())
    gain = np.random.default_rng(2).uniform(5.0, 20.0, robot.n)
    return robot, dataset, np.array(gravity), gain


def planted(recorded, kind):
    from plants.position_arm import as_effort

    robot, dataset, gravity, gain = recorded
    run = dataset.runs[0]
    tau = as_effort(kind, run.torque, gravity, gain, robot.limits.torque)
    return replace(dataset, runs=(replace(run, torque=tau),))


def behind_the_gears(recorded):
    """Return what torque sensors behind the gears measure: rigid links, no rotor, no friction."""
    from plants.mujoco_arms import chain_urdf
    from plants.mujoco_recordings import compile_model

    robot, dataset, _, _ = recorded
    run = dataset.runs[0]
    with tempfile.TemporaryDirectory() as folder:
        urdf = chain_urdf(ARM, Path(folder) / 'arm.urdf')
        model = compile_model(urdf, robot.gravity)
    state = mujoco.MjData(model)
    tau = []
    for q, dq, ddq in zip(*differentiate(run, Processing(cutoff_hz=10.0, decimation=1, border=0))):
        state.qpos[:], state.qvel[:], state.qacc[:] = q, dq, ddq
        mujoco.mj_inverse(model, state)
        tau.append(state.qfrc_inverse.copy())
    return replace(dataset, runs=(replace(run, torque=np.array(tau)),))


def test_a_joint_torque_is_no_finding(recorded):
    assert check(recorded[0], planted(recorded, 'torque')).codes == ()


def test_a_sensor_behind_the_gears_is_no_finding_and_leaves_out_the_drives(recorded):
    robot, behind = recorded[0], behind_the_gears(recorded)
    assert check(robot, behind).codes == ()
    result = IdimWls().estimate(robot, behind)
    full = IdimWls().estimate(robot, recorded[1])
    friction = [name.startswith('Fc') for name in robot.base.names]
    assert np.abs(result.values[friction]).max() < 0.1 * np.abs(full.values[friction]).max()


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


def test_currents_are_right_through_the_mapping_that_is_proposed(recorded, tmp_path):
    """The mapping of the table, with the drive gains of a data sheet in the robot file."""
    robot, _, _, gain = recorded
    file = data.save(planted(recorded, 'current'), tmp_path / 'currents.csv')
    (tmp_path / 'mapping.yaml').write_text(
        file_mapping(file, robot.n, {'unit': 'A', 'scale': 'drive_gain'})
    )
    content = robot.description.model_dump(mode='json', exclude_defaults=True)
    content['urdf'] = str(robot.urdf.resolve())
    content['joints'] = [
        {'name': name, 'drive_gain': float(g)} for name, g in zip(robot.joint_names, gain)
    ]
    (tmp_path / 'robot.yaml').write_text(yaml.safe_dump(content))
    own = load_robot(tmp_path / 'robot.yaml')
    assert check(own, data.load(file, tmp_path / 'mapping.yaml', own)).codes == ()


@pytest.fixture(scope='module')
def rated(tmp_path_factory):
    """Return an arm whose joints have different ratings, and its recording in percent of them."""
    from plants.mujoco_arms import make_arm, robots_folder
    from plants.mujoco_recordings import record
    from plants.position_arm import as_effort

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    arm = make_arm('talos_left', tmp_path_factory.mktemp('rated'))
    robot = load_robot(arm.robot_file)
    dataset = record(arm, np.random.default_rng(5)).dataset
    run = dataset.runs[0]
    none = np.ones(robot.n)
    tau = as_effort('percent', run.torque, none, none, robot.limits.torque)
    return robot, replace(dataset, runs=(replace(run, torque=tau),))


def test_percent_of_rated_torque_is_right_through_the_mapping_that_is_proposed(rated, tmp_path):
    robot, wrong = rated
    finding = check(robot, wrong).findings[0]
    assert (finding.code, finding.joint) == ('torque_unit', None)
    file = data.save(wrong, tmp_path / 'percent.csv')
    scale = list(finding.remedy.torque_scale)
    (tmp_path / 'mapping.yaml').write_text(file_mapping(file, robot.n, {'scale': scale}))
    right = data.load(file, tmp_path / 'mapping.yaml', robot)
    assert check(robot, right).codes == ()


def file_mapping(file, n, torque):
    """Return the mapping of a CSV file of ours, with these keys for its torque."""
    with open(file) as stream:
        header = stream.readline().strip().split(',')
    places = {
        channel: [header.index(name) for name in header if name.startswith(start)][:n]
        for channel, start in (('position', 'position.'), ('torque', 'torque.'))
    }
    return yaml.safe_dump(
        {
            'time': {'column': header[0]},
            'position': {'columns': [header[k] for k in places['position']]},
            'torque': {'columns': [header[k] for k in places['torque']], **torque},
        }
    )
