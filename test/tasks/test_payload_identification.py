"""Each strategy finds the load that the simulated robot carries within its intervals."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import data
from robot_id.cli.main import cli
from robot_id.data import Dataset, Run
from robot_id.exceptions import DataError, OptionError, RobotIdError
from robot_id.robot import Payload, load_robot, payload_parameters
from robot_id.tasks import record
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.payload import Attachment, identify_payload
from robot_id.tasks.payload.attachment import at_link, at_pose
from robot_id.tasks.payload.consistency import is_consistent, nearest_consistent
from robot_id.tasks.payload.result import about_centre

ROBOT = 'tx40'

LOAD = Payload(2.0, (0.0, -0.03, 0.08), (0.004, 0.0, 0.0, 0.005, 0.0, 0.003))
WANTED = np.array([LOAD.mass, *LOAD.centre, *LOAD.inertia])


@pytest.fixture(scope='module')
def unloaded(robot):
    return record(robot, seed=11)


@pytest.fixture(scope='module')
def loaded(robot):
    return record(robot, seed=12, parameters=robot.truth() + payload_parameters(robot, LOAD))


@pytest.fixture(scope='module')
def arm(robot, unloaded):
    request = Request(robot, unloaded, holdout=0.0, check=False)
    return identify(request).result


@pytest.fixture(scope='module')
def found(robot, unloaded, loaded, arm):
    return {
        'subtract': identify_payload(robot, loaded, unloaded, strategy='subtract'),
        'known_arm': identify_payload(robot, loaded, arm=arm),
        'joint': identify_payload(robot, loaded, unloaded),
    }


@pytest.mark.parametrize('strategy', ['subtract', 'known_arm', 'joint'])
def test_every_way_finds_the_load_within_its_interval(found, strategy):
    result = found[strategy]
    assert result.strategy == strategy
    assert abs(result.values[0] - 2.0) < 0.02
    np.testing.assert_allclose(result.values[1:4], LOAD.centre, atol=0.003)
    # Ten values: each within 4 deviations, most within 2.
    off = np.abs(result.values - WANTED) / result.deviations
    assert off.max() < 4.0, off
    assert np.median(off) < 2.0, off
    assert len(result.determined) == 10


def test_ways_agree_within_their_intervals(found):
    for one, other in combinations(found, 2):
        a, b = found[one], found[other]
        # Their 95 % intervals overlap, of all ten values.
        apart = np.abs(a.values - b.values) / (a.deviations + b.deviations)
        assert apart.max() < 1.96


def test_swapped_recordings_are_refused(robot, unloaded, loaded):
    for strategy in ('subtract', 'joint'):
        with pytest.raises(DataError, match='with and without load swapped'):
            identify_payload(robot, unloaded, loaded, strategy=strategy)


def test_no_load_gives_an_interval_that_contains_zero(robot, unloaded):
    again = record(robot, seed=13)
    result = identify_payload(robot, again, unloaded)
    assert 0.0 <= result.values[0] < 4.0 * result.deviations[0]
    assert 'mass' not in result.determined


def test_other_motions_are_refused_by_way_a_alone(robot, unloaded, loaded):
    second = replace(loaded, runs=tuple(run.rows(len(run) // 2, len(run)) for run in loaded.runs))
    half = replace(unloaded, runs=tuple(run.rows(0, len(run) // 2) for run in unloaded.runs))
    with pytest.raises(DataError, match='strategy joint'):
        identify_payload(robot, second, half, strategy='subtract')
    together = identify_payload(robot, second, half)
    assert abs(together.values[0] - 2.0) < min(0.02, 4.0 * together.deviations[0])


def part(dataset, first, last, every=1, late=0.0):
    """Return some samples of a recording, on a clock of their own."""
    run = dataset.runs[0]
    rows = slice(first, last, every)
    kept = Run(run.time[rows] - run.time[first] + late, run.position[rows], run.torque[rows])
    return replace(dataset, runs=(kept,))


def test_way_a_finds_a_part_of_the_motion_on_another_clock_at_another_rate(
    robot, unloaded, loaded
):
    count = len(loaded.runs[0])
    for other in (
        part(loaded, count // 4, count - 100, late=7.0),
        part(loaded, 0, count, every=2),
    ):
        found = identify_payload(robot, other, unloaded, strategy='subtract')
        assert abs(found.values[0] - LOAD.mass) < 4.0 * found.deviations[0] < 0.2


def test_frame_of_a_pose_and_of_a_link(robot, unloaded, loaded, found):
    shifted = identify_payload(
        robot, loaded, unloaded, attachment=at_pose(robot, '0,0,0.05,0,0,0')
    )
    np.testing.assert_allclose(
        shifted.values[1:4], found['joint'].values[1:4] - [0, 0, 0.05], atol=1e-6
    )
    np.testing.assert_allclose(shifted.values[4:], found['joint'].values[4:], atol=1e-6)
    turned = identify_payload(
        robot, loaded, unloaded, attachment=at_pose(robot, '0,0,0,0,0,1.5707963267948966')
    )
    x, y, z = found['joint'].values[1:4]
    np.testing.assert_allclose(turned.values[1:4], [y, -x, z], atol=1e-6)
    with pytest.raises(OptionError, match='pose'):
        at_pose(robot, '1,2')
    with pytest.raises(RobotIdError, match="no link 'gripper'"):
        at_link(load_robot('scara'), 'gripper')


def test_columns_are_those_of_the_payload_model(robot):
    body = robot.kinematics.own_body(robot.n - 1)
    change = Attachment(body).columns(robot) @ LOAD.parameters()
    np.testing.assert_allclose(change, payload_parameters(robot, LOAD), atol=1e-12)
    np.testing.assert_allclose(about_centre(LOAD.parameters()), WANTED, atol=1e-15)


def test_planar_arm_says_what_it_cannot_tell():
    scara = load_robot('scara')
    chi = scara.truth() + payload_parameters(scara, LOAD)
    result = identify_payload(scara, record(scara, seed=2, parameters=chi), record(scara, seed=1))
    assert result.determined == ('mass', 'centre_x', 'centre_y', 'inertia_zz')
    told = np.array([0, 1, 2, 9])
    assert np.all(np.abs(result.values - WANTED)[told] < 4.0 * result.deviations[told])
    assert result.to_dict()['centre'][2] == {'value': None, 'std': None}


def test_impossible_fit_becomes_the_nearest_body():
    p = LOAD.parameters()
    p[0] -= 0.05
    assert not is_consistent(p)
    near = nearest_consistent(p, np.diag(np.full(10, 1e-4)), np.ones(10, dtype=bool))
    assert is_consistent(near)
    # The true body is possible, so the nearest one is no farther.
    assert np.linalg.norm(near - p) <= np.linalg.norm(LOAD.parameters() - p)


def test_short_and_foreign_recordings_are_refused(robot, unloaded, loaded):
    short = replace(loaded, runs=(loaded.runs[0].rows(0, 1500),))
    with pytest.raises(DataError, match='too short'):
        identify_payload(robot, short, unloaded)
    # Longer, but too short for the arm's parameters: the difference of the torques is left.
    part = identify_payload(robot, replace(loaded, runs=(loaded.runs[0].rows(0, 4000),)), unloaded)
    assert part.strategy == 'subtract'
    assert 'inertia_xx' not in part.determined
    off = np.abs(part.values - WANTED) / part.deviations
    assert off[:4].max() < 3.0
    foreign = Dataset(tuple(f'other_{j}' for j in range(6)), loaded.runs)
    with pytest.raises(DataError, match="no joint 'joint_1'"):
        identify_payload(robot, foreign, unloaded)


def test_command_line_writes_the_load(tmp_path):
    runner = CliRunner()
    scara = load_robot('scara')
    for name, load, seed in (('empty', Payload(0.0), 1), ('full', LOAD, 2)):
        chi = scara.truth() + payload_parameters(scara, load)
        data.save(record(scara, seed=seed, parameters=chi), tmp_path / f'{name}.npz')
    out = tmp_path / 'p.json'
    common = ['--robot', 'scara', '--json', str(out)]
    both = ['--unloaded', str(tmp_path / 'empty.npz'), '--loaded', str(tmp_path / 'full.npz')]
    done = runner.invoke(cli, ['payload', *common, *both], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    written = json.loads(out.read_text())
    assert written['schema'] == 1
    assert written['strategy'] == 'joint'
    assert abs(written['mass']['value'] - 2.0) < 4.0 * written['mass']['std']
    assert len(written['centre']) == 3
    assert len(written['inertia']) == 6
    with pytest.raises(OptionError, match='--unloaded'):
        runner.invoke(cli, ['payload', *common, *both[2:]], catch_exceptions=False)
