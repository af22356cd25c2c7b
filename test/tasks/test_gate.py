"""The check as a gate in identify: mistakes are named before the fit, the verdict heeds them."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id.data import Run
from robot_id.exceptions import DataError, RobotIdError
from robot_id.robot import load_robot
from robot_id.tasks.checks import unexplained
from robot_id.tasks.checks.case import Case
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.recording import record


@pytest.fixture(scope='module')
def clean(scara):
    return record(scara, seed=2)


@pytest.fixture(scope='module')
def flipped(clean):
    runs = tuple(replace(run, torque=-run.torque) for run in clean.runs)
    return replace(clean, runs=runs)


def test_a_clean_recording_has_no_finding(scara, clean):
    result = identify(Request(scara, clean)).result
    assert result.findings == ()
    assert result.verdict == 'usable'


def test_torques_of_the_wrong_sign_are_named_and_not_to_be_used(scara, flipped):
    found = identify(Request(scara, flipped))
    (finding,) = found.result.findings
    assert finding['code'] == 'torque_sign'
    assert set(finding) == {'code', 'joint', 'certainty', 'message', 'fix', 'intervals'}
    assert found.result.verdict == 'do_not_use'
    assert any('torque_sign' in reason for reason in found.result.reasons)
    assert 'torque_sign' in found.findings[0]


def test_a_delay_in_another_unit_of_time_is_no_error_of_an_option(scara, clean):
    (run,) = clean.runs
    late = Run(1e3 * run.time[:-2], run.position[2:], run.torque[:-2])
    found = identify(Request(scara, replace(clean, runs=(late,))))
    assert 'time_unit' in [finding['code'] for finding in found.result.findings]
    assert found.result.verdict == 'do_not_use'


def test_a_refusal_says_what_the_check_has_found(scara, flipped):
    few = replace(flipped, runs=(flipped.runs[0].rows(0, 400),))
    with pytest.raises(RobotIdError, match='check: torque_sign'):
        identify(Request(scara, few, options={'decimation': '100'}))


def test_the_gate_can_be_passed(scara, flipped):
    result = identify(Request(scara, flipped, check=False)).result
    assert result.findings == ()
    # What the parameters themselves show stays: friction that drives.
    assert result.verdict == 'do_not_use'


@pytest.mark.parametrize('check', [True, False])
def test_a_torque_that_is_zero_all_along_was_not_recorded(check):
    robot = load_robot('scara')
    recorded = record(robot, seed=1)
    torque = recorded.runs[0].torque * [1.0, 0.0]
    silent = replace(recorded, runs=(replace(recorded.runs[0], torque=torque),))
    with pytest.raises(DataError, match=f"torque of joint '{robot.joint_names[1]}' is zero"):
        identify(Request(robot, silent, check=check))


def test_a_delay_that_the_fit_takes_out_does_not_lower_the_verdict(scara, clean):
    run, samples = clean.runs[0], 8
    torque = np.concatenate([np.repeat(run.torque[:1], samples, 0), run.torque[:-samples]])
    late = replace(clean, runs=(replace(run, torque=torque),))
    result = identify(Request(scara, late)).result
    assert [finding['code'] for finding in result.findings] == ['torque_delay']
    assert result.verdict == 'usable', result.reasons
    kept = identify(Request(scara, late, options={'torque_delay_s': 0.0})).result
    assert kept.verdict != 'usable'


def test_a_robot_that_changes_between_two_files_is_no_unexplained_torque(scara, clean):
    """Each file is explained by itself: the torques are those of this robot."""
    run, rng = clean.runs[0], np.random.default_rng(0)
    two = replace(clean, runs=(run, replace(run, torque=0.1 * run.torque)))
    assert unexplained.changed(Case(scara, two))
    noise = replace(run, torque=rng.normal(size=run.torque.shape) * run.torque.std(axis=0))
    assert not unexplained.changed(Case(scara, replace(clean, runs=(noise,))))
    assert not unexplained.changed(Case(scara, clean))
