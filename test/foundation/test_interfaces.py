"""Every interface of robot_id_msgs goes to another process over DDS and comes back unchanged."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes]

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'robot_id_msgs'
NAMES = {
    kind: sorted(path.stem for path in (FOLDER / kind).glob(f'*.{kind}'))
    for kind in ('msg', 'srv', 'action')
}


@pytest.fixture(scope='module')
def echo():
    """Yield a client beside a running echo node; the node must end cleanly."""
    from running.client import Client
    from running.node_process import NodeProcess

    script = ROOT / 'test/ros_helpers/echo_node.py'
    with NodeProcess([sys.executable, str(script)]) as node:
        node.wait_for_log('ready', timeout=60)
        with Client() as client:
            client.echo = node
            yield client
        assert node.stop() == 0, node.log


@pytest.fixture(autouse=True)
def the_other_end_lives(echo):
    """Where it does not, nothing is waited for."""
    assert echo.echo.process.poll() is None, echo.echo.log


@pytest.mark.parametrize('name', NAMES['msg'])
def test_message_comes_back_with_the_same_values(echo, name):
    from ros_helpers.filled import filled

    import robot_id_msgs.msg

    kind = getattr(robot_id_msgs.msg, name)
    received = echo.collect(kind, f'echo/{name}/out')
    publisher = echo.node.create_publisher(kind, f'echo/{name}/in', 10)
    echo.spin_until(publisher.get_subscription_count, what=f'{name} subscriber')
    echo.spin_until(lambda: echo.node.count_publishers(f'echo/{name}/out'), what='its publisher')
    sent = [filled(kind, seed) for seed in range(3)]
    assert sent[0] != kind()
    # The way back may be matched later than it is seen, so the first one may be sent twice.
    for attempt in range(20):
        publisher.publish(sent[0])
        echo.spin_for(0.05 * (attempt + 1))
        if received:
            break
    received.clear()
    for message in sent:
        publisher.publish(message)
    echo.spin_until(lambda: received[-1:] == sent[-1:], what=f'{name} back')
    assert received[-3:] == sent


@pytest.mark.parametrize('name', NAMES['srv'])
def test_service_carries_request_and_response(echo, name):
    from ros_helpers.filled import filled

    import robot_id_msgs.srv

    kind = getattr(robot_id_msgs.srv, name)
    answer = filled(kind.Response, 2)
    assert answer != kind.Response()
    assert echo.call(kind, f'echo/{name}', filled(kind.Request, 1)) == answer
    if kind.Request.get_fields_and_field_types().keys() - {'structure_needs_at_least_one_member'}:
        assert echo.call(kind, f'echo/{name}', filled(kind.Request, 7)) == kind.Response()


def test_action_runs_with_feedback_to_its_result(echo):
    from action_msgs.msg import GoalStatus
    from ros_helpers.filled import filled

    from robot_id_msgs.action import Identify

    # Feedback may be matched later than the services are, so short goals come first.
    for _ in range(20):
        first = echo.send_goal(Identify, 'identify', Identify.Goal(bag='3', method='idim_wls'))
        first.result()
        if len(first.feedback) == 3:
            break
    goal = echo.send_goal(Identify, 'identify', Identify.Goal(bag='5', method='idim_wls'))
    assert goal.accepted
    status, result = goal.result()
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert result == filled(Identify.Result, 2)
    assert [message.iteration for message in goal.feedback] == [1, 2, 3, 4, 5]
    assert goal.feedback[-1].fraction == 1.0
    assert {message.text for message in goal.feedback} == {'idim_wls'}


def test_action_is_cancelled_while_it_runs(echo):
    from action_msgs.msg import GoalStatus

    from robot_id_msgs.action import Identify
    from robot_id_msgs.msg import ErrorCode

    goal = echo.send_goal(Identify, 'identify', Identify.Goal(bag='100000', method='didim'))
    echo.spin_until(lambda: goal.feedback, what='first feedback')
    assert goal.cancel()
    status, result = goal.result(timeout=10)
    assert status == GoalStatus.STATUS_CANCELED
    assert result.error_code == ErrorCode.CANCELED
    assert goal.feedback[-1].iteration < 100000


def test_nan_survives_the_way(echo):
    import math

    from robot_id_msgs.msg import OnlineStatus

    received = echo.collect(OnlineStatus, 'echo/OnlineStatus/out')
    publisher = echo.node.create_publisher(OnlineStatus, 'echo/OnlineStatus/in', 10)
    echo.spin_until(publisher.get_subscription_count)
    for _ in range(20):
        publisher.publish(OnlineStatus(condition_number=float('nan')))
        echo.spin_for(0.1)
        if received:
            break
    assert math.isnan(received[0].condition_number)


def test_error_codes_are_distinct():
    from robot_id_msgs.msg import ErrorCode

    text = (FOLDER / 'msg/ErrorCode.msg').read_text()
    names = re.findall(r'^int32 ([A-Z_]+) =', text, flags=re.M)
    codes = [getattr(ErrorCode, name) for name in names]
    assert ErrorCode.SUCCESS == 0
    assert len(set(codes)) == len(codes) > 10


def test_every_interface_is_built():
    from ros_helpers.filled import interfaces

    listed = (FOLDER / 'CMakeLists.txt').read_text()
    for kind, names in NAMES.items():
        assert sorted(value.__name__ for value in interfaces(kind)) == names
        assert all(f'{kind}/{name}.{kind}' in listed for name in names)
