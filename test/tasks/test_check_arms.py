"""The check on arms of example-robot-data that MuJoCo simulates: planted mistakes, and none."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from plants.mujoco_arms import robots_folder
from plants.planted_mistakes import plant
from plants.recording_conditions import USUAL

from robot_id.exceptions import DataError
from robot_id.robot import load_robot
from robot_id.tasks.checks import check

pytest.importorskip('mujoco')
if robots_folder() is None:
    pytest.skip('example-robot-data is not installed', allow_module_level=True)


@pytest.mark.parametrize('arm', ['panda', 'ur5', 'solo12'])
def test_a_clean_recording_gives_no_finding(arm: str, tmp_path: Path) -> None:
    conditions = replace(USUAL, spread=0.15)
    planted = plant('clean', arm, tmp_path, np.random.default_rng(1), conditions)
    assert check(load_robot(planted.robot_file), planted.dataset).codes == ()


def test_a_long_recording_that_shakes_is_judged_by_all_of_its_motion(tmp_path: Path) -> None:
    """The wrist of this arm oscillates, so that the blocks which are looked at are short."""
    conditions = replace(USUAL, seconds=60.0, rate=1000.0)
    planted = plant('clean', 'xarm7', tmp_path, np.random.default_rng(5), conditions)
    assert check(load_robot(planted.robot_file), planted.dataset).codes == ()


@pytest.mark.parametrize('count', [3, 40, 90])
def test_a_recording_with_many_gaps(count: int, tmp_path: Path) -> None:
    conditions = replace(USUAL, seconds=60.0)
    planted = plant('clean', 'ur5', tmp_path, np.random.default_rng(2), conditions)
    run = planted.dataset.runs[0]
    edges = np.linspace(0, len(run), count + 1).astype(int)
    cut = tuple(run.rows(a, b - 30) for a, b in itertools.pairwise(edges))
    findings = check(load_robot(planted.robot_file), replace(planted.dataset, runs=cut))
    assert findings.codes == ()


def test_shreds_of_a_recording_are_too_short_to_check(tmp_path: Path) -> None:
    planted = plant('clean', 'ur5', tmp_path, np.random.default_rng(2), USUAL)
    run = planted.dataset.runs[0]
    cut = tuple(run.rows(a, a + 25) for a in range(0, len(run) - 25, 50))
    with pytest.raises(DataError, match='without gaps'):
        check(load_robot(planted.robot_file), replace(planted.dataset, runs=cut))


@pytest.mark.parametrize(
    ('mistake', 'arm'),
    [
        ('torque_unit', 'xarm7'),
        ('position_unit', 'ur10'),
        ('time_unit', 'anymal'),
        ('all_flipped', 'kinova'),
        ('one_flipped', 'z1'),
        ('swapped', 'baxter'),
        ('gear_ratio', 'tiago_lift'),
        ('motor_side', 'talos'),
        ('saturated', 'two_dofs'),
        ('wrapped', 'pr2'),
        ('gravity_direction', 'g1'),
        ('rest', 'icub'),
        ('currents', 'ur3'),
        ('noise', 'a1'),
        ('unsigned', 'ur5'),
        ('held', 'z1'),
        ('position_factor', 'panda'),
    ],
)
def test_a_planted_mistake_is_named(mistake: str, arm: str, tmp_path: Path) -> None:
    planted = plant(mistake, arm, tmp_path, np.random.default_rng(1))
    robot = load_robot(planted.robot_file)
    findings = check(robot, planted.dataset)
    assert findings
    assert set(findings.codes) <= set(planted.codes)
    if planted.joints:
        names = {robot.joint_names[j] for j in planted.joints}
        assert {finding.joint for finding in findings} <= names


def test_a_rate_that_the_velocity_channel_denies(tmp_path: Path) -> None:
    conditions = replace(USUAL, velocity=True)
    planted = plant('clean', 'ur5', tmp_path, np.random.default_rng(2), conditions)
    runs = tuple(replace(run, time=8.0 * run.time) for run in planted.dataset.runs)
    slow = replace(planted.dataset, runs=runs)
    (finding,) = check(load_robot(planted.robot_file), slow)
    assert finding.code == 'time_unit'
    assert f'rate_hz: {planted.dataset.rate:.4g} ' in finding.fix


@pytest.mark.parametrize(('arm', 'factor'), [('kinova', 0.5), ('ur5', 2.0), ('so100', 4.0)])
def test_a_rate_that_gravity_denies(arm: str, factor: float, tmp_path: Path) -> None:
    planted = plant('clean', arm, tmp_path, np.random.default_rng(2), USUAL)
    runs = tuple(replace(run, time=factor * run.time) for run in planted.dataset.runs)
    other = replace(planted.dataset, runs=runs)
    (finding,) = check(load_robot(planted.robot_file), other)
    assert finding.code == 'time_unit'
    rate = float(finding.fix.removeprefix('rate_hz: ').split()[0])
    assert rate == pytest.approx(planted.dataset.rate, rel=0.1)


def test_several_wrong_signs_are_one_finding(tmp_path: Path) -> None:
    planted = plant('clean', 'ur10', tmp_path, np.random.default_rng(3), USUAL)
    signs = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    runs = tuple(replace(run, torque=run.torque * signs) for run in planted.dataset.runs)
    (finding,) = check(load_robot(planted.robot_file), replace(planted.dataset, runs=runs))
    assert finding.code == 'torque_sign'
    assert '[1, -1, 1, 1, -1, 1]' in finding.fix


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_reversed_torques_show_without_friction_and_inertias(sign: float, tmp_path: Path) -> None:
    """Torques behind the gears: nothing but the bodies tells their sign."""
    conditions = replace(USUAL, placeholders=True, friction=0.0)
    planted = plant('clean', 'ur5', tmp_path, np.random.default_rng(4), conditions)
    runs = tuple(replace(run, torque=sign * run.torque) for run in planted.dataset.runs)
    findings = check(load_robot(planted.robot_file), replace(planted.dataset, runs=runs))
    assert findings.codes == (('torque_sign',) if sign < 0 else ())


@pytest.mark.parametrize('kind', ['elastic', 'sticky', 'quantised', 'files'])
def test_a_robot_that_no_model_describes_well_has_no_mistake(kind: str, tmp_path: Path) -> None:
    planted = plant(kind, 'ur3', tmp_path, np.random.default_rng(6), USUAL)
    assert check(load_robot(planted.robot_file), planted.dataset).codes == ()


@pytest.mark.parametrize(('arm', 'seed'), [('ur5', 1), ('panda', 2), ('so100', 3)])
@pytest.mark.parametrize(('unit', 'factor'), [('', 1.0), ('kN.m', 1e-3), ('N.cm', 1e2)])
def test_a_unit_shows_without_inertias(
    arm: str, seed: int, unit: str, factor: float, tmp_path: Path
) -> None:
    """Arms of one length are about equally heavy."""
    conditions = replace(USUAL, placeholders=True)
    planted = plant('clean', arm, tmp_path, np.random.default_rng(seed), conditions)
    runs = tuple(replace(run, torque=run.torque * factor) for run in planted.dataset.runs)
    findings = check(load_robot(planted.robot_file), replace(planted.dataset, runs=runs))
    assert findings.codes == (('torque_unit',) if unit else ())
    assert all(unit in finding.fix for finding in findings)
