"""What a controller is asked to take as its model: words, verdicts, versions, covariances."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from robot_id.exceptions import RobotIdError
from robot_id.robot import load_robot
from robot_id.ros.model_check import Question, Setting, check
from robot_id.ros.refusal import code_of
from robot_id_msgs.msg import DynamicParameters, ErrorCode, Verdict
from robot_id_msgs.srv import SetDynamicParameters

ROBOT = load_robot('scara')
START = ROBOT.a_priori()
B = len(ROBOT.base)


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp('results')
    known = [{'name': n, 'value': float(v)} for n, v in zip(ROBOT.base.names, START)]
    common = {'schema': 1, 'robot': 'scara', 'method': 'idim_wls', 'parameters': known}
    for verdict in 'usable', 'caution', 'do_not_use':
        result = {**common, 'verdict': verdict, 'reasons': ['noisy']}
        (made / f'{verdict}.json').write_text(json.dumps(result))
    return made


def outcome(folder, **fields):
    """The code of a request and what is taken over, None where it is refused."""
    setting = Setting(ROBOT, str(folder), True, 0.05, np.full(ROBOT.n, 100.0))
    question = Question(SetDynamicParameters.Request(**fields), START, np.zeros(B), True)
    try:
        return ErrorCode.SUCCESS, check(setting, question).wanted
    except RobotIdError as error:
        return code_of(error), None


def in_a_message(folder, **fields):
    names, values = list(ROBOT.base.names), START.tolist()
    parameters = DynamicParameters(**{'names': names, 'values': values, **fields})
    return outcome(folder, parameters=parameters)


@pytest.mark.parametrize(
    ('name', 'fields', 'code'),
    [
        ('usable', {}, ErrorCode.SUCCESS),
        ('caution', {}, ErrorCode.VERDICT_REFUSED),
        ('caution', {'accept_caution': True}, ErrorCode.SUCCESS),
        ('do_not_use', {'accept_caution': True}, ErrorCode.VERDICT_REFUSED),
        ('do_not_use', {'forced_by': 'me', 'force_reason': 'so'}, ErrorCode.VERDICT_REFUSED),
        ('usable', {'forced_by': 'me', 'force_reason': 'so'}, ErrorCode.SUCCESS),
        ('usable', {'forced_by': 'me'}, ErrorCode.INVALID_OPTION),
        ('usable', {'forced_by': ' ', 'force_reason': 'so'}, ErrorCode.INVALID_OPTION),
        ('usable', {'force_reason': 'because'}, ErrorCode.INVALID_OPTION),
        ('usable', {'when': 7}, ErrorCode.INVALID_OPTION),
    ],
)
def test_a_verdict_needs_a_word_and_force_a_name(folder, name, fields, code):
    assert outcome(folder, json_path=f'{name}.json', **fields)[0] == code


def test_a_message_of_another_version_robot_or_verdict_is_refused(folder):
    assert in_a_message(folder, robot='scara')[0] == ErrorCode.SUCCESS
    assert in_a_message(folder, robot='tx40')[0] == ErrorCode.INVALID_DATA
    later = DynamicParameters.VERSION + 1
    assert in_a_message(folder, version=later)[0] == ErrorCode.INVALID_DATA
    assert in_a_message(folder, verdict=Verdict(level=9))[0] == ErrorCode.INVALID_OPTION


def test_a_covariance_arrives_in_the_order_of_the_robot(folder):
    names, values = list(ROBOT.base.names), START.tolist()
    root = np.random.default_rng(0).normal(size=(B, B))
    covariance = root @ root.T
    order = np.arange(B)[::-1]
    code, wanted = in_a_message(
        folder,
        names=[names[k] for k in order],
        values=[values[k] for k in order],
        covariance=covariance[np.ix_(order, order)].ravel().tolist(),
    )
    assert code == ErrorCode.SUCCESS
    np.testing.assert_array_equal(wanted.covariance, covariance)


def changed(row, column, value):
    covariance = np.eye(B)
    covariance[row, column] = value
    return covariance


@pytest.mark.parametrize(
    'covariance',
    [
        np.eye(B - 1),
        changed(1, 1, -1.0),
        changed(1, 1, np.inf),
        changed(0, 1, 0.5),
        changed(0, 1, np.nan),
        np.full((B, B), -0.9) + 1.9 * np.eye(B),
    ],
    ids=['shape', 'negative', 'infinite', 'not symmetric', 'nan', 'not of errors'],
)
def test_a_matrix_that_no_errors_have_is_refused(folder, covariance):
    given = covariance.ravel().tolist()
    assert in_a_message(folder, covariance=given)[0] == ErrorCode.INVALID_DATA


def test_an_unknown_variance_and_one_of_zero_are_no_mistake(folder):
    covariance = np.diag([np.nan, 0.0, *[1.0] * (B - 2)])
    covariance[0, 1:] = covariance[1:, 0] = np.nan
    code, wanted = in_a_message(folder, covariance=covariance.ravel().tolist())
    assert code == ErrorCode.SUCCESS
    assert np.isnan(wanted.covariance[0, 0])
