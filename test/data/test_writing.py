"""What is written is read back bit by bit."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id import data
from robot_id.data import Dataset, Run
from robot_id.exceptions import DataError

OPTIONAL = (
    'velocity',
    'reference_position',
    'reference_velocity',
    'reference_acceleration',
    'control',
)


@st.composite
def datasets(draw):
    n = draw(st.integers(1, 4))
    step = draw(st.sampled_from([0.001, 0.01, 0.0002]))
    # A bag has velocities and accelerations of a reference only with its positions.
    given_channels = draw(st.sets(st.sampled_from(OPTIONAL)))
    if given_channels & {'reference_velocity', 'reference_acceleration'}:
        given_channels |= {'reference_position'}
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    names = tuple(f'joint_{k}' for k in range(n))
    runs = []
    for _ in range(draw(st.integers(1, 3))):
        N = draw(st.integers(8, 60))
        channels = {name: rng.normal(size=(N, n)) for name in ('position', 'torque')}
        channels |= {name: rng.normal(size=(N, n)) for name in sorted(given_channels)}
        runs.append(Run(time=step * np.arange(N), **channels))
    return Dataset(names, tuple(runs))


def check(found, written, exact_time):
    assert found.joint_names == written.joint_names
    assert len(found.runs) == len(written.runs)
    for ours, theirs in zip(found.runs, written.runs):
        if exact_time:
            assert np.allclose(ours.time, theirs.time, atol=1e-12)
        assert ours.step == pytest.approx(theirs.step, rel=1e-6)
        for name in ('position', 'torque', *OPTIONAL):
            a, b = getattr(ours, name), getattr(theirs, name)
            assert (a is None) == (b is None), name
            if a is not None:
                assert np.array_equal(a, b), name


@given(datasets(), st.sampled_from(['bag', 'log.csv', 'log.csv.gz', 'log.npz']))
@settings(max_examples=30, deadline=None)
def test_round_trip(dataset, name):
    with tempfile.TemporaryDirectory() as folder:
        path = data.save(dataset, Path(folder) / 'new' / name)
        check(data.load(path), dataset, exact_time=name != 'bag' or len(dataset.runs) == 1)


def test_a_bag_is_readable_by_the_rosbags_library(tmp_path):
    from rosbags.highlevel import AnyReader

    rng = np.random.default_rng(0)
    q, tau, ref = rng.normal(size=(3, 50, 2))
    run = Run(np.arange(50) / 100, q, tau, reference_position=ref, control=tau)
    data.save(Dataset(('x', 'y'), (run,)), tmp_path / 'bag')
    found = {}
    with AnyReader([tmp_path / 'bag']) as reader:
        for connection, _, raw in reader.messages():
            message = reader.deserialize(raw, connection.msgtype)
            found.setdefault(connection.topic, []).append(message)
    states = found['/joint_states']
    assert states[7].name == ['x', 'y']
    assert np.array_equal([m.position for m in states], q)
    assert np.array_equal([m.effort for m in states], tau)
    assert states[7].velocity.size == 0
    assert states[7].header.stamp.nanosec == 70_000_000
    assert np.array_equal([m.points[0].positions for m in found['/reference']], ref)
    assert np.array_equal([m.data for m in found['/effort_commands']], tau)


def test_nothing_is_overwritten_unless_asked(tmp_path):
    dataset = Dataset(('x',), (Run(np.arange(9) / 10, np.zeros((9, 1)), np.ones((9, 1))),))
    for name in ('bag', 'log.csv'):
        data.save(dataset, tmp_path / name)
        with refused(DataError, code='exists'):
            data.save(dataset, tmp_path / name)
    data.save(dataset, tmp_path / 'log.csv', overwrite=True)
    with refused(DataError, code='exists'):
        data.save(dataset, tmp_path / 'bag', overwrite=True)
    with refused(DataError, code='no_writer'):
        data.save(dataset, tmp_path / 'x.mcap')


def test_names_that_break_a_header_are_refused(tmp_path):
    dataset = Dataset(('x,y',), (Run(np.arange(9) / 10, np.zeros((9, 1)), np.ones((9, 1))),))
    with refused(DataError, code='bad_name'):
        data.save(dataset, tmp_path / 'log.csv')
