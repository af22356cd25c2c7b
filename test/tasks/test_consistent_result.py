"""Least squares that gives no consistent robot: the fit is repeated among those that are."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id import dynamics
from robot_id.exceptions import IdentificationError
from robot_id.regression.consistency import Fitter
from robot_id.robot import load_robot
from robot_id.tasks import record
from robot_id.tasks.identify import Request, identify
from robot_id.trajectory.default import motion_of


@pytest.fixture(scope='module')
def recording():
    """Return a TX40 whose wrist drowns in the noise of the torques."""
    robot = load_robot('tx40')
    data = record(robot, motion_of(robot, 'random', 4.0, 1), 3, loop='one_khz')
    run, rng = data.runs[0], np.random.default_rng(1)
    noise = run.torque.std() * rng.normal(size=run.torque.shape)
    return robot, replace(data, runs=(replace(run, torque=run.torque + noise),))


def smallest(robot, found):
    q = found.dataset.runs[0].position[::50]
    return dynamics.smallest_inertia_eigenvalue(robot, found.result.values, q)


def test_an_impossible_result_is_replaced_and_said(recording):
    robot, data = recording
    kept = identify(Request(robot, data, options={'physical': False}))
    assert smallest(robot, kept) < 0
    assert kept.result.verdict == 'do_not_use'
    found = identify(Request(robot, data))
    assert smallest(robot, found) > 0
    assert found.result.verdict != 'do_not_use'
    assert 'physical=false keeps the first fit' in found.warnings[0]
    assert found.result.holdout_error_percent <= 1.25 * kept.result.holdout_error_percent
    given = identify(Request(robot, data, options={'physical': True}))
    np.testing.assert_array_equal(given.result.values, found.result.values)


def test_a_mistake_in_the_data_is_not_covered_up(recording):
    robot, data = recording
    run = data.runs[0]
    wrong = replace(data, runs=(replace(run, torque=-run.torque),))
    found = identify(Request(robot, wrong))
    # It is tried in spite of the finding, which may be wrong, and explains less.
    assert found.result.findings
    assert any('physical=true' in line for line in found.result.warnings)
    assert found.result.physical is None
    assert found.result.verdict == 'do_not_use'


def test_the_first_fit_stays_where_no_possible_robot_is_found(recording, monkeypatch):
    def fails(self, R, z):
        raise IdentificationError('none was found')

    robot, data = recording
    kept = identify(Request(robot, data, options={'physical': False}))
    monkeypatch.setattr(Fitter, 'fit', fails)
    found = identify(Request(robot, data))
    np.testing.assert_array_equal(found.result.values, kept.result.values)
    assert 'none was found' in found.warnings[0]
