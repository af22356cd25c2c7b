"""The verdict after a fit, the hold-out behind it, and the export that heeds it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import data
from robot_id.cli.main import cli
from robot_id.data import Dataset
from robot_id.exceptions import OptionError
from robot_id.methods.result import Result
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.recording import record
from robot_id.tasks.verdict import verdict
from robot_id.tasks.verdict.motion_parts import split_motion
from robot_id.tasks.verdict.verdict import Remark, Verdict


@pytest.fixture(scope='module')
def recording(scara):
    return record(scara, seed=1)


def with_torque(recording, change):
    return replace(
        recording, runs=tuple(replace(run, torque=change(run.torque)) for run in recording.runs)
    )


def test_a_clean_recording_is_usable_and_predicts_what_was_kept_back(scara, recording):
    found = identify(Request(scara, recording))
    assert (found.result.verdict, found.result.reasons) == ('usable', ())
    assert found.holdout is not None
    assert found.result.holdout_error_percent == found.holdout.error_percent
    assert found.result.holdout_error_percent < 2.0 * found.result.relative_error_percent
    without = identify(Request(scara, recording, holdout=0))
    assert without.holdout is None
    assert np.isnan(without.result.holdout_error_percent)
    # The parameters are those of all data either way.
    np.testing.assert_array_equal(found.result.values, without.result.values)


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        (lambda tau: -tau, 'friction drives it'),
        (lambda tau: np.random.default_rng(0).normal(size=tau.shape), 'robot-id check'),
    ],
    ids=['sign', 'noise'],
)
def test_nonsense_is_called_nonsense_and_not_exported(scara, recording, tmp_path, change, words):
    data.save(with_torque(recording, change), tmp_path / 'bad.csv')
    file = tmp_path / 'r.json'

    def call(*arguments):
        return CliRunner().invoke(cli, [str(a) for a in arguments])

    done = call('identify', '--robot', 'scara', '--data', tmp_path / 'bad.csv', '--json', file)
    assert done.exit_code == 3, done.output
    assert 'verdict: do not use' in done.stderr
    written = json.loads(file.read_text())
    assert written['verdict'] == 'do_not_use'
    assert any(words in reason for reason in written['reasons'])
    refused = call('export', file, '--format', 'ros-params')
    assert 'do not use' in str(refused.exception)
    assert all(reason[:60] in str(refused.exception) for reason in written['reasons'])
    assert call('export', file, '--format', 'ros-params', '--force').exit_code == 0
    assert call('export', file, '--format', 'yaml').exit_code == 0


def test_holdout_from_other_data(scara, recording, tmp_path):
    data.save(record(scara, seed=2), tmp_path / 'other.csv')
    found = identify(Request(scara, recording, holdout=(tmp_path / 'other.csv',)))
    assert found.result.holdout_error_percent < 2.0 * found.result.relative_error_percent
    with pytest.raises(OptionError, match='holdout'):
        Request(scara, recording, holdout=0.7)


def test_the_motion_is_split_not_the_rest_after_it(recording):
    run = recording.runs[0]
    rest = 2 * len(run)
    time = run.time[0] + run.step * np.arange(len(run) + rest)

    def held(x):
        return np.concatenate([x, np.repeat(x[-1:], rest, axis=0)])

    longer = Dataset(
        recording.joint_names,
        (replace(run, time=time, **{k: held(getattr(run, k)) for k in ('position', 'torque')},
                 velocity=None, reference_position=None, reference_velocity=None,
                 reference_acceleration=None, control=None),),
    )  # fmt: skip
    parts = split_motion(longer, 5)
    kept = parts.labels[0][: len(run)] == parts.most_even()
    assert kept.mean() == pytest.approx(0.2, abs=0.05)
    # The same motion twice: what is kept back of one is not fitted in the other.
    twice = split_motion(replace(longer, runs=longer.runs * 2), 5)
    one, other = (labels[: len(run)] == twice.most_even() for labels in twice.labels)
    assert np.mean(one != other) < 0.05


def test_the_worst_remark_is_the_verdict():
    remarks = [Remark('caution', 'a'), Remark('do_not_use', 'b'), Remark('caution', 'c')]
    assert Verdict.of(remarks) == Verdict('do_not_use', ('b', 'a', 'c'))
    assert Verdict.of([]) == Verdict('usable', ())


@pytest.mark.parametrize(('share', 'told'), [(1e-5, False), (1e-2, True)])
def test_friction_that_drives_is_judged_by_the_torque_of_its_joint(scara, recording, share, told):
    """Without noise a millionth of the torque is many deviations below zero, and means nothing."""
    torque = np.concatenate([run.torque for run in recording.runs])
    names = list(scara.base.names)
    values, tiny = scara.truth(), 1e-12 * np.eye(len(names))
    typical = np.sqrt(np.mean(torque[:, 0] ** 2))
    values[[names.index('Fv1'), names.index('Fc1')]] = 0.0, -share * typical
    result = Result('scara', 'idim_wls', scara.base.names, values, tiny)
    remarks = verdict.friction(verdict.Case(scara, recording, result, None))
    assert bool(remarks) == told, remarks


@pytest.mark.parametrize(
    ('wider', 'levels'), [(1.0, []), (1000.0, ['caution']), (5000.0, ['do_not_use'])]
)
def test_what_the_deviations_leave_unknown_of_other_motions(scara, recording, wider, levels):
    result = identify(Request(scara, recording, holdout=0, check=False)).result
    vague = replace(result, covariance=wider**2 * result.covariance)
    remarks = verdict.other_motions(verdict.Case(scara, recording, vague, result.prediction))
    assert [remark.level for remark in remarks] == levels, remarks
