"""Values in messages: durations, verdicts, modes, frames of loads."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from geometry_msgs.msg import Inertia, Vector3

from robot_id.control.runtime.torque_control import Mode
from robot_id.exceptions import DataError, DescriptionError
from robot_id.robot import load_robot, payload_parameters
from robot_id.ros.durations import to_duration, to_seconds
from robot_id.ros.messages import verdict_message
from robot_id.ros.model_request import start_values
from robot_id.ros.payload_message import payload_of
from robot_id.ros.refusal import Refusal
from robot_id.tasks.payload.attachment import at_link, link_frame
from robot_id.tasks.verdict.verdict import LEVELS
from robot_id_msgs.msg import ControllerStatus, ErrorCode, Verdict

FRAMES = [('emps', 'link_1'), ('scara', 'link_2'), ('tx40', 'link_6')]


@given(st.floats(-1e6, 1e6))
def test_seconds_come_back_to_a_nanosecond(seconds):
    assert to_seconds(to_duration(seconds)) == pytest.approx(seconds, abs=1e-9, rel=1e-15)


def test_times_that_no_duration_has():
    assert to_seconds(to_duration(float('nan'))) == 0.0
    assert to_duration(float('inf')).sec == to_duration(1e300).sec == 2**31 - 1


def test_each_level_of_a_verdict_and_each_mode_has_its_constant():
    levels = [verdict_message(level).level for level in (None, *LEVELS)]
    assert levels == [Verdict.NONE, Verdict.USABLE, Verdict.CAUTION, Verdict.DO_NOT_USE]
    with pytest.raises(DataError, match='fine'):
        verdict_message('fine')
    assert len({getattr(ControllerStatus, mode.name) for mode in Mode}) == len(Mode)


@pytest.mark.parametrize(('name', 'frame'), FRAMES)
def test_a_load_is_given_in_a_link_of_the_urdf(name, frame):
    robot = load_robot(name)
    assert link_frame(robot) == frame
    inertia = Inertia(m=2.0, com=Vector3(x=0.1, y=-0.2, z=0.3), ixx=0.02, iyy=0.03, izz=0.04)
    changes = []
    for link in ('', frame, robot.joint_names[-1]):
        payload, joint = payload_of(robot, inertia, link)
        changes.append(payload_parameters(robot, payload, joint))
    np.testing.assert_allclose(changes[1], changes[0], atol=1e-12)
    np.testing.assert_allclose(changes[2], changes[0], atol=1e-12)
    assert payload_of(robot, Inertia(), 'nonsense') == (None, None)
    with pytest.raises(DescriptionError, match='nonsense'):
        payload_of(robot, inertia, 'nonsense')


def test_a_controller_starts_with_caution_only_where_it_is_told_to(tmp_path):
    robot, path = load_robot('emps'), tmp_path / 'r.json'
    known = [{'name': n, 'value': float(v)} for n, v in zip(robot.base.names, robot.truth())]

    def code(verdict, accept):
        head = {'schema': 1, 'robot': 'emps', 'method': 'idim_wls', 'parameters': known}
        path.write_text(json.dumps({**head, 'verdict': verdict}))
        try:
            start_values(robot, str(path), accept)
        except Refusal as error:
            return error.number
        return ErrorCode.SUCCESS

    assert [code('usable', accept) for accept in (False, True)] == [0, 0]
    assert [code('caution', accept) for accept in (False, True)] == [ErrorCode.VERDICT_REFUSED, 0]
    assert [code('do_not_use', accept) for accept in (False, True)] == [
        ErrorCode.VERDICT_REFUSED
    ] * 2


def test_a_load_in_a_turned_frame_is_the_same_load():
    robot = load_robot('tx40')
    place = at_link(robot, 'link_6')
    angle = 0.7
    c, s = np.cos(angle), np.sin(angle)
    turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    moved = type(place)(place.body, turned, np.array([0.1, 0.2, 0.3]))
    inertia = Inertia(m=2.0, com=Vector3(x=0.1), ixx=0.02, iyy=0.03, izz=0.04, ixy=0.001)
    payload, _ = payload_of(robot, inertia, '')
    there = moved.on_body(payload)
    # The ten parameters in the frame of the body, two ways.
    expected = moved.columns(robot) @ payload.parameters()
    joint = robot.joint_names[-1]
    np.testing.assert_allclose(payload_parameters(robot, there, joint), expected, atol=1e-12)
