"""Findings stand where their mistake was planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robot_id as rid
from robot_id.data import save
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.saturation import detect as saturation
from robot_id.tasks.checks.wrap_around import detect as wrap_around


@pytest.fixture(scope='module')
def data():
    """Return an arm's recording whose clock does not begin at zero."""
    found = rid.simulate('scara', seed=1, seconds=8.0)
    run = found.runs[0]
    return replace(found, runs=(replace(run, time=run.time + 100.0),))


def changed(data, **channels):
    return replace(data, runs=(replace(data.runs[0], **channels),))


def test_saturation_is_where_the_torque_is_clipped(data):
    """Each clipped sample lies within an interval; most of what lies outside is free."""
    run = data.runs[0]
    limit = 0.6 * np.abs(run.torque[:, 0]).max()
    torque = run.torque.copy()
    torque[:, 0] = np.clip(torque[:, 0], -limit, limit)
    (finding,), _ = saturation(Case(rid.load_robot('scara'), changed(data, torque=torque)))
    seconds, at = run.time - run.time[0], np.abs(torque[:, 0]) == limit
    inside = np.zeros(len(run), bool)
    for each in finding.intervals:
        assert each.run == 0
        inside |= (seconds >= each.first_s) & (seconds <= each.last_s)
    assert inside[at].all()
    assert inside.mean() < 3.0 * at.mean()
    content = finding.as_dict()['intervals'][0]
    assert set(content) == {'run', 'first_s', 'last_s'}


def wrapped(data):
    """Return the recording with a zero of the elbow's encoder amid its motion, and the jumps."""
    q = data.runs[0].position.copy()
    middle = float(np.median(q[:, 1]))
    q[:, 1] = (q[:, 1] - middle) % (2.0 * np.pi) + middle
    return q, np.flatnonzero(np.abs(np.diff(q[:, 1])) > 3.0) + 1


@pytest.mark.parametrize('repaired', [False, True], ids=['in the channels', 'by the reader'])
def test_wrap_around_is_where_the_encoder_jumps(data, repaired, tmp_path):
    """The instants are those of the jumps, also where the reader had undone them."""
    q, jumps = wrapped(data)
    assert jumps.size
    given = changed(data, position=q, velocity=None, reference_position=None)
    if repaired:
        path = tmp_path / 'run.csv'
        save(given, path)
        given = rid.load(path, robot='scara')
        assert given.repairs
    (finding,), _ = wrap_around(Case(rid.load_robot('scara'), given))
    run = data.runs[0]
    near = 0.01 * float(run.time[-1] - run.time[0]) + 2.0 * run.step
    for jump in run.time[jumps] - run.time[0]:
        assert any(each.first_s - near <= jump <= each.last_s + near
                   for each in finding.intervals)  # fmt: skip
    assert all(each.run == 0 for each in finding.intervals)
