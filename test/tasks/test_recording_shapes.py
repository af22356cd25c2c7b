"""A recording in files of any shape gives the same parameters and the same verdict."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robot_id.data.dataset import Dataset
from robot_id.robot import load_robot
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.measurements import prepared

sys.path.append(str(Path(__file__).resolve().parents[2] / 'tools'))
from plants.mujoco_arms import make_arm, robots_folder
from plants.recording_shapes import SHAPES, Plan, Played, play

pytest.importorskip('mujoco')
if robots_folder() is None:
    pytest.skip('example-robot-data is not installed', allow_module_level=True)


def played(name, folder, plan, seed=3):
    """Return a robot and what it recorded."""
    rng = np.random.default_rng(seed)
    arm = make_arm(name, folder, rng)
    robot = load_robot(arm.robot_file)
    found = play(arm, rng, plan)
    return robot, Played(found.dataset.select(robot.joint_names), found.parts, found.model)


@pytest.fixture(scope='module')
def leg(tmp_path_factory):
    """Three joints, together and each alone, with rests."""
    return played('solo12', tmp_path_factory.mktemp('leg'), Plan(200.0, 10.0, 3.0, 0.8))


def fitted(robot, dataset):
    return identify(Request(robot, dataset, check=False)).result


@pytest.fixture(scope='module')
def one_file(leg):
    return fitted(leg[0], leg[1].dataset)


def same(one, other):
    """Whether two results agree within their intervals."""
    off = (one.values - other.values) / np.hypot(one.std, other.std)
    return np.mean(np.abs(off) < 1.96) > 0.9 and np.abs(off).max() < 4.0


def test_a_recording_given_twice_counts_once(leg):
    (run,) = leg[1].dataset.runs
    later = replace(run, time=run.time + 100.0, name='copy.csv')
    once = prepared(replace(leg[1].dataset, runs=(later, replace(run, name='log.csv'))))
    assert [each.name for each in once.runs] == ['log.csv']
    assert 'copy.csv: a copy of log.csv, left out' in once.notes


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_files_cut_anywhere_in_any_order(leg, one_file, data):
    """Parts of one recording, by its clock, are that recording: the same bits."""
    robot, recording = leg
    run = recording.dataset.runs[0]
    cuts = data.draw(st.lists(st.integers(1, len(run) // 2 - 1), min_size=1, max_size=8))
    ends = [0, *(2 * cut for cut in sorted(set(cuts))), len(run)]
    runs = [run.rows(a, b) for a, b in pairwise(ends)]
    order = data.draw(st.permutations(range(len(runs))))
    shaped = replace(recording.dataset, runs=tuple(runs[k] for k in order))
    found = fitted(robot, shaped)
    np.testing.assert_array_equal(found.values, one_file.values)
    np.testing.assert_array_equal(found.std, one_file.std)
    assert found.verdict == one_file.verdict
    assert found.reasons == one_file.reasons
    assert found.holdout_error_percent == one_file.holdout_error_percent


def test_other_recordings_are_not_joined(leg):
    """Files with a pause between them, or a clock that goes on while the arm is elsewhere."""
    recording = leg[1].dataset
    run = recording.runs[0]
    first, second = run.rows(0, 700), run.rows(700, len(run))
    late = replace(second, time=second.time + 3.0 * run.step)
    elsewhere = replace(second, position=second.position + 0.5)
    for other, count in ((second, 1), (late, 2), (elsewhere, 2)):
        assert len(prepared(replace(recording, runs=(other, first))).runs) == count


@pytest.mark.parametrize('shape', ['by_part', 'trimmed', 'slower'])
def test_rests_and_rates(leg, one_file, shape):
    robot, recording = leg
    found = fitted(robot, SHAPES[shape](recording, np.random.default_rng(1)))
    assert same(found, one_file)
    assert found.verdict == one_file.verdict, (found.reasons, one_file.reasons)


def test_an_arm_in_a_file_of_all_joints_and_one_of_each(tmp_path):
    robot, recording = played('panda', tmp_path, Plan(200.0, 5.0, 3.0, 0.5))
    files = SHAPES['by_part'](recording, np.random.default_rng(1))
    assert len(files.runs) == 8
    found = fitted(robot, files)
    assert found.verdict == 'usable', found.reasons
    assert found.holdout_error_percent < 5.0
    weights = 1.0 / np.array(found.extras['joint_deviations'])
    size = found.prediction.torque_norms() / np.sqrt(found.extras['equations_per_joint'])
    assert np.ptp(np.log10(weights * size)) < 2.0


def test_the_order_of_the_files_changes_nothing(leg):
    robot, recording = leg
    files = SHAPES['by_part'](recording, np.random.default_rng(1))
    first, second = (
        identify(Request(robot, replace(files, runs=runs)))
        for runs in (files.runs, files.runs[::-1])
    )
    np.testing.assert_array_equal(first.result.values, second.result.values)
    np.testing.assert_array_equal(first.result.std, second.result.std)
    assert first.result.holdout_error_percent == second.result.holdout_error_percent
    assert first.result.verdict == second.result.verdict
    assert first.result.reasons == second.result.reasons
    assert first.result.findings == second.result.findings


def test_samples_that_are_held_are_taken_once(leg):
    robot, recording = leg
    run = recording.dataset.runs[0]
    plain = prepared(recording.dataset)
    assert plain.runs[0] is run
    held = replace(
        run,
        time=run.time[0] + run.step / 3.0 * np.arange(3 * len(run)),
        position=np.repeat(run.position, 3, axis=0),
        torque=np.repeat(run.torque, 3, axis=0),
    )
    thinned = prepared(Dataset(robot.joint_names, (held,)))
    assert len(thinned.notes) == 1
    assert thinned.rate == pytest.approx(run.rate)
    np.testing.assert_array_equal(thinned.runs[0].position, run.position)


@pytest.mark.parametrize('period', [2.5, 3.6, 7.3])
def test_a_source_that_is_not_in_step_with_the_logger(leg, period):
    """Every sample of the source is found once, in its order, at its rate."""
    robot, recording = leg
    run = recording.dataset.runs[0]
    count = int((len(run) - 1) * period)
    at = np.floor((np.arange(count) - 0.3) / period).astype(int) + 1
    held = replace(
        run, time=run.step / period * np.arange(count), position=run.position[at],
        torque=run.torque[at],
    )  # fmt: skip
    thinned = prepared(Dataset(robot.joint_names, (held,)))
    assert len(thinned.notes) == 1
    assert thinned.rate == pytest.approx(run.rate, rel=1e-4)
    found = thinned.runs[0]
    assert len(found) >= len(run) - 3
    first = np.flatnonzero(np.all(run.torque == found.torque[0], axis=1))[0]
    wanted = run.rows(first, first + len(found))
    different = np.any(found.torque != wanted.torque, axis=1)
    assert different.mean() < 0.01


def test_a_slow_joint_with_a_coarse_encoder_is_not_held(leg):
    robot, recording = leg
    run = recording.dataset.runs[0]
    coarse = replace(run, position=np.round(run.position / 5e-3) * 5e-3)
    assert prepared(Dataset(robot.joint_names, (coarse,))).runs[0] is coarse
