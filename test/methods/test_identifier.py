"""The on-line identifier as the node uses it: chunks, gaps, bad samples, and the methods' door."""

import json

import numpy as np
import pytest

from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError, IdentificationError, OptionError
from robot_id.methods import registry
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.supervision import CheapRule
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from robot_id.studies import online_study as study
from robot_id.tasks import dataset_of

ROBOT = 'scara'


@pytest.fixture(scope='module')
def run(robot):
    return study.record(robot, 3.0)


def reference(run, rows=slice(None)):
    r = run.reference
    return r.position[rows], r.velocity[rows], r.acceleration[rows]


@pytest.mark.parametrize('method', ['rls', 'riv', 'integral'])
@pytest.mark.parametrize('filtering', ['model', 'input', 'none'])
def test_samples_and_blocks_agree(robot, run, method, filtering):
    one, block = (
        OnlineIdentifier(robot, 1000.0, method=method, filtering=filtering, decimation=3)
        for _ in range(2)
    )
    count = 1500
    for k in range(count):
        rows = slice(k, k + 1)
        one.feed(
            run.measured_position[k],
            run.measured_torque[k],
            tuple(x[0] for x in reference(run, rows)),
            time=run.time[k],
        )
    rows = slice(0, count)
    block.feed(run.measured_position[rows], run.measured_torque[rows], reference(run, rows))
    assert one.estimator.samples == block.estimator.samples > 400
    assert np.allclose(one.estimate, block.estimate, rtol=1e-7, atol=1e-9)


def test_gaps_duplicates_and_bad_samples(robot, run):
    identifier = OnlineIdentifier(robot, 1000.0, filtering='none')
    q, tau = run.measured_position, run.measured_torque
    for k in range(100):
        assert identifier.feed(q[k], tau[k], time=k * 1e-3)
    assert identifier.estimator.samples == 98
    assert not identifier.feed(q[100], tau[100], time=99e-3)  # the same stamp again
    assert 'not after' in identifier.status().rejected_reason
    assert identifier.feed(q[200], tau[200], time=0.2)  # a gap: differences begin anew
    assert identifier.segments == 2
    assert identifier.estimator.samples == 98
    assert not identifier.feed(np.array([np.nan, 0.0]), tau[201], time=0.201)
    assert identifier.segments == 3
    assert identifier.status().rejected == 2
    assert np.all(np.isfinite(identifier.estimate))
    with pytest.raises(DataError, match='2 positions'):
        identifier.feed(np.zeros(3), np.zeros(3))


def test_refusals(robot, run):
    riv = OnlineIdentifier(robot, 1000.0, method='riv')
    with pytest.raises(DataError, match='reference'):
        riv.feed(np.zeros(2), np.zeros(2))
    with pytest.raises(OptionError, match='did you mean'):
        OnlineIdentifier(robot, 1000.0, method='rsl')
    with pytest.raises(OptionError, match='decimation'):
        OnlineIdentifier(robot, 1000.0, decimation=0)


def test_reset_forgets(robot, run):
    identifier = OnlineIdentifier(robot, 1000.0)
    identifier.feed(run.measured_position, run.measured_torque)
    assert identifier.status().live
    identifier.reset()
    assert identifier.status().samples == 0
    assert np.all(identifier.estimate == 0.0)


def test_status_is_json(robot, run):
    identifier = OnlineIdentifier(
        robot,
        1000.0,
        start=robot.truth(),
        scale=np.abs(robot.truth()),
        noise=[0.2, 0.02],
        memory=Memory('exponential', 1000),
        supervisor=CheapRule(),
    )
    identifier.feed(run.measured_position, run.measured_torque)
    text = json.loads(json.dumps(identifier.status().to_dict()))
    assert {p['name'] for p in text['parameters']} == set(robot.base.names)
    assert {p['state'] for p in text['parameters']} <= {'live', 'frozen', 'partial'}
    assert all(p['reason'] for p in text['parameters'] if p['state'] != 'live')


@pytest.mark.parametrize('method', ['rls', 'riv', 'integral'])
def test_methods_on_recorded_data(robot, tmp_path, method):
    simulation = study.record(robot, 8.0, position_std=1e-6)
    data = dataset_of(robot, simulation)
    options = {'held_torque': 'true', 'every': '5', 'low_pass_hz': '10'}
    seen = []
    result = registry.create(method, options).estimate(
        robot, data, lambda fraction, text='': seen.append(fraction)
    )
    assert seen[-1] == 1.0
    assert seen == sorted(seen)
    assert result.method == method
    error = np.abs(result.values / robot.truth() - 1)
    assert np.all(error[[robot.base.index(x) for x in ('ZZ1R', 'ZZ2R', 'LMX2')]] < 0.01)
    # The energy model knows this friction to about a fifth only, and says so.
    k = robot.base.index('Fc2')
    assert error[k] < max(0.2, 3.0 * result.std[k] / abs(robot.truth()[k]))
    assert result.relative_error_percent < 10
    result.save(tmp_path / 'r.json')
    again = Result.load(tmp_path / 'r.json')
    assert np.allclose(again.values, result.values)
    assert again.extras['status']['samples'] > 0


def test_supervised_method_takes_sizes_from_an_earlier_result(robot, tmp_path):
    simulation = study.record(robot, 4.0)
    data = dataset_of(robot, simulation)
    first = registry.create('rls', {'held_torque': True}).estimate(robot, data)
    first.save(tmp_path / 'first.json')
    options = {
        'supervision': 'cheap',
        'nominal': str(tmp_path / 'first.json'),
        'memory': 'window',
        'memory_s': 2,
        'held_torque': True,
        'every': 5,
    }
    second = registry.create('rls', options).estimate(robot, data)
    assert np.allclose(second['ZZ1R'], robot.truth()[0], rtol=0.01)
    other = load_robot('emps')
    with pytest.raises(DataError, match="do not fit robot 'emps'"):
        registry.create('rls', options).estimate(
            other, Dataset(other.joint_names, (_still(other),))
        )


def test_a_recording_without_motion_is_refused(robot):
    data = Dataset(robot.joint_names, (_still(robot),))
    with pytest.raises(IdentificationError, match='no identifiable parameter'):
        registry.create('rls').estimate(robot, data)


def test_without_a_reference_riv_says_what_stands_in(robot):
    run = study.record(robot, 6.0, position_std=1e-6).to_run()
    from dataclasses import replace

    bare = replace(
        run, reference_position=None, reference_velocity=None, reference_acceleration=None
    )
    data = Dataset(robot.joint_names, (bare,))
    result = registry.create('riv', {'held_torque': True, 'every': 5}).estimate(robot, data)
    assert any('stands in' in line for line in result.warnings)
    assert np.allclose(result['ZZ1R'], robot.truth()[0], rtol=0.02)


def _still(robot):
    from robot_id.data.dataset import Run

    t = np.arange(3000) / 1000.0
    return Run(t, np.zeros((3000, robot.n)), np.zeros((3000, robot.n)))
