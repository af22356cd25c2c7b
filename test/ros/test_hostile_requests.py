"""Requests that no one should send, to the logger and the controller as real processes."""

import json
from collections import Counter

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from running.client import Client
from running.robot_graph import START_S, bring_up, graph

from robot_id.robot import load_robot
from robot_id.ros.qos import SERVICE
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import SetDynamicParameters, StartRecording, StopRecording

SPACE = 'hostile'
LONG = 'x' * 10**6


@pytest.fixture(scope='module')
def folders(tmp_path_factory):
    """The data folder with links that lead out of it, and what lies outside."""
    root = tmp_path_factory.mktemp('root')
    data, outside = root / 'data', root / 'outside'
    data.mkdir()
    outside.mkdir()
    model = load_robot('scara')
    result = {
        'schema': 1, 'robot': 'scara', 'method': 'idim_wls',
        'parameters': [{'name': n, 'value': v} for n, v in zip(model.base.names, model.truth())],
    }  # fmt: skip
    (outside / 'r.json').write_text(json.dumps(result))
    (data / 'link.json').symlink_to(outside / 'r.json')
    (data / 'way').symlink_to(outside)
    (data / 'dangling').symlink_to(outside / 'not_there')
    return data, outside


@pytest.fixture(scope='module')
def client(folders):
    settings = {'data_directory': str(folders[0])}
    nodes = (
        ('data_logger', SPACE, {**settings, 'minimum_free_mb': 1.0}),
        ('ctc_controller', SPACE, {**settings, 'robot': 'scara', 'rate_hz': 1000.0}),
    )
    with Client(namespace=SPACE) as client, graph(*nodes):
        bring_up(client, 'ctc_controller')
        yield client


def everything(folders):
    return sorted(path for folder in folders for path in folder.rglob('*'))


@pytest.mark.parametrize(
    'name', ['dangling', 'way', 'link.json', 'way/x', '$(touch x)', '`id`', 'a;b', '!!x', '\n'],
    ids=repr,
)  # fmt: skip
def test_no_recording_is_made_through_a_link_or_by_syntax(client, folders, name):
    before = everything(folders)
    request = StartRecording.Request(name=name)
    answer = client.call(StartRecording, 'data_logger/start', request)
    assert answer.error_code == ErrorCode.FORBIDDEN_PATH, answer.error_string
    assert '\n' not in answer.error_string
    assert everything(folders) == before


def test_a_recording_with_a_name_of_a_megabyte(client, folders):
    before = everything(folders)
    answer = client.call(StartRecording, 'data_logger/start', StartRecording.Request(name=LONG))
    assert answer.error_code == ErrorCode.FORBIDDEN_PATH
    assert len(answer.error_string) < 1000
    assert everything(folders) == before


@pytest.mark.parametrize(
    ('path', 'told'),
    [
        ('link.json', 'leads out'),
        ('way/r.json', 'leads out'),
        ('../outside/r.json', 'not a path below'),
        (LONG, '1000000 characters'),
        ('$(cat r.json)', 'No such file'),
    ],
    ids=lambda text: text[:20],
)
def test_no_model_is_read_from_outside(client, path, told):
    request = SetDynamicParameters.Request(json_path=path)
    answer = client.call(SetDynamicParameters, 'ctc_controller/set_dynamic_parameters', request)
    wanted = ErrorCode.INVALID_DATA if 'cat' in path else ErrorCode.FORBIDDEN_PATH
    assert answer.error_code == wanted, answer.error_string[:200]
    assert told in answer.error_string
    assert len(answer.error_string) < 1000
    assert answer.parameters.method != 'idim_wls'


def test_of_two_hundred_recordings_asked_for_at_once_one_is_made(client, folders):
    node = client.node
    service = node.create_client(StartRecording, 'data_logger/start', qos_profile=SERVICE)
    client.spin_until(service.service_is_ready, START_S, 'the service')
    before = set(folders[0].iterdir())
    asked = [service.call_async(StartRecording.Request()) for _ in range(200)]
    client.spin_until(lambda: all(each.done() for each in asked), START_S, '200 answers')
    codes = Counter(each.result().error_code for each in asked)
    assert codes == {ErrorCode.SUCCESS: 1, ErrorCode.BUSY: 199}
    (made,) = set(folders[0].iterdir()) - before
    answer = client.call(StopRecording, 'data_logger/stop')
    assert (answer.error_code, answer.status.bag) == (ErrorCode.SUCCESS, made.name)
    node.destroy_client(service)
