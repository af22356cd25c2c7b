"""The identification server on real processes: results, progress, cancel, refusals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time

import numpy as np
import pytest
from ros_helpers.identification import SLOW, ask, runs, send, workers_of

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(400)]

NAMESPACE = 'cell/robot'


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    from running.simulated_bag import simulated_bag

    outside = tmp_path_factory.mktemp('outside')
    folder = tmp_path_factory.mktemp('recordings')
    simulated_bag(folder / 'run')
    shutil.copytree(folder / 'run', outside / 'run')
    (folder / 'link').symlink_to(outside / 'run')
    (folder / 'inside').mkdir()
    (folder / 'inside/run_0.mcap').symlink_to(outside / 'run/run_0.mcap')
    shutil.copytree(folder / 'run', folder / 'liar')
    metadata = folder / 'liar/metadata.yaml'
    lie = metadata.read_text().replace('run_0.mcap', '../../outside0/run/run_0.mcap')
    assert lie != metadata.read_text()
    metadata.write_text(lie)
    (folder / 'broken').mkdir()
    (folder / 'broken/broken.mcap').write_bytes(os.urandom(5000))
    (folder / 'empty').mkdir()
    os.utime(folder / 'run', (time.time() + 5, time.time() + 5))
    return folder


@pytest.fixture(scope='module')
def server(folder):
    from running.node_process import NodeProcess

    settings = {'data_directory': str(folder), 'robot': 'emps'}
    with NodeProcess('identification_server', parameters=settings, namespace=NAMESPACE) as node:
        node.wait_for_log('ready', 120)
        yield node
    assert node.stop() == 0
    assert 'Traceback' not in node.log


@pytest.fixture(scope='module')
def client(server):
    from running.client import Client

    with Client(namespace=NAMESPACE) as client:
        yield client


def test_action_gives_what_the_method_gives(client, folder):
    from action_msgs.msg import GoalStatus

    from robot_id.data import load
    from robot_id.methods import registry
    from robot_id.methods.result import Result
    from robot_id.robot import load_robot

    goal = send(client, method='didim')
    # The first time on a machine the kernels are compiled.
    status, answer = goal.result(300.0)
    assert (status, answer.error_code) == (GoalStatus.STATUS_SUCCEEDED, 0)
    robot = load_robot('emps')
    expected = registry.create('didim').estimate(robot, load(folder / 'run', robot=robot))
    found = answer.result
    assert tuple(found.parameters.names) == expected.names
    np.testing.assert_allclose(found.parameters.values, expected.values, rtol=1e-9)
    np.testing.assert_allclose(found.parameters.standard_deviations, expected.std, rtol=1e-6)
    b = len(expected.names)
    covariance = np.reshape(found.parameters.covariance, (b, b))
    np.testing.assert_allclose(covariance, expected.covariance, rtol=1e-6)
    assert (found.iterations, found.converged) == (expected.iterations, True)
    assert found.relative_error_percent == pytest.approx(expected.relative_error_percent)
    assert list(found.joint_names) == list(robot.joint_names)
    assert {o.key: o.value for o in found.options}['start'] == 'regular'
    # The truth that the simulation had.
    known = dict(zip(robot.base.names, robot.truth()))
    for name, value in zip(found.parameters.names, found.parameters.values):
        if not name.startswith('Off'):
            assert value == pytest.approx(known[name], rel=0.05), name
    # The same in a file next to the bag.
    assert found.json_path == 'run.results/emps_didim.json'
    saved = Result.load(folder / found.json_path)
    np.testing.assert_array_equal(saved.values, list(found.parameters.values))
    assert len(found.plot_paths) == 1
    assert (folder / found.plot_paths[0]).read_bytes()[:4] == b'\x89PNG'
    # And what was told on the way.
    fractions = [message.fraction for message in goal.feedback]
    assert len(fractions) >= 4
    assert fractions == sorted(fractions)
    counted = [message for message in goal.feedback if message.iteration]
    errors = [step.relative_error_percent for step in expected.history]
    assert counted[0].iteration == 1
    assert counted[0].relative_error_percent == pytest.approx(errors[0], rel=1e-3)
    assert np.isnan(goal.feedback[0].relative_error_percent)


def test_service_on_the_newest_recording_keeps_earlier_results(client, folder):
    first, second = (ask(client, bag='') for _ in range(2))
    for answer in (first, second):
        assert (answer.error_code, answer.error_string) == (0, '')
        assert answer.result.bag == 'run'
    assert first.result.json_path != second.result.json_path
    values = [json.loads((folder / a.result.json_path).read_text()) for a in (first, second)]
    assert values[0]['parameters'] == values[1]['parameters']


def test_methods_are_listed_with_their_options(client):
    from robot_id import options
    from robot_id.methods import registry
    from robot_id_msgs.srv import ListMethods

    methods = client.call(ListMethods, 'identification_server/list_methods').methods
    assert [method.name for method in methods] == registry.names()
    for method in methods:
        assert method.summary
        known = options.options_of(registry.method_class(method.name))
        given = {option.key: option.default_value for option in method.options}
        # What it says about defaults can be sent back.
        registry.create(method.name, {key: v for key, v in given.items() if v != 'none'})
        assert list(given) == list(known)
        assert all(option.type and option.description for option in method.options)


REFUSED = [
    ({'bag': '../outside/run'}, 'FORBIDDEN_PATH', 'not a path below'),
    ({'bag': 'run/../../x'}, 'FORBIDDEN_PATH', 'not a path below'),
    ({'bag': '/etc/passwd'}, 'FORBIDDEN_PATH', 'not a path below'),
    ({'bag': 'link'}, 'FORBIDDEN_PATH', 'leads out'),
    ({'bag': 'inside'}, 'FORBIDDEN_PATH', 'leads out'),
    ({'bag': 'liar'}, 'FORBIDDEN_PATH', 'metadata'),
    ({'bag': 'nothing'}, 'INVALID_DATA', "no recording 'nothing'"),
    ({'bag': 'broken'}, 'INVALID_DATA', 'not an mcap'),
    ({'bag': 'empty'}, 'INVALID_DATA', 'empty'),
    ({'method': 'idim_wsl'}, 'INVALID_METHOD', "did you mean 'idim_wls'"),
    ({'cutof_hz': 3}, 'INVALID_OPTION', "no option 'cutof_hz'"),
    ({'cutoff_hz': 'fast'}, 'INVALID_OPTION', 'cutoff_hz'),
    ({'robot': 'empss'}, 'INVALID_ROBOT', "did you mean 'emps'"),
    ({'robot': '/etc/passwd'}, 'INVALID_ROBOT', 'no robot'),
    ({'robot': 'tx40'}, 'INVALID_DATA', 'joint'),
    ({'bag': 'b' * 10**6}, 'FORBIDDEN_PATH', '1000000 characters'),
    ({'method': 'm' * 10**6}, 'INVALID_OPTION', 'too long'),
    ({'cutoff_hz': '$(touch x); `id`'}, 'INVALID_OPTION', 'cutoff_hz'),
    ({'cutoff_hz': '!!python/object/apply:os.system [id]'}, 'INVALID_OPTION', 'cutoff_hz'),
    ({'method': 'didim', 'start': '/etc/passwd.json'}, 'FORBIDDEN_PATH', 'not a path below'),
]


@pytest.mark.parametrize(('fields', 'code', 'text'), REFUSED, ids=lambda x: str(x)[:40])
def test_bad_requests_get_a_code_and_one_line(client, folder, fields, code, text):
    from robot_id_msgs.msg import ErrorCode

    answer = ask(client, **fields)
    assert answer.error_code == getattr(ErrorCode, code), answer.error_string
    assert text in answer.error_string
    assert '\n' not in answer.error_string
    assert not answer.result.parameters.names


def test_bad_goal_is_aborted_with_the_reason(client):
    from action_msgs.msg import GoalStatus

    from robot_id_msgs.msg import ErrorCode

    status, answer = send(client, bag='../x').result()
    assert (status, answer.error_code) == (GoalStatus.STATUS_ABORTED, ErrorCode.FORBIDDEN_PATH)


def test_cancel_busy_and_a_node_that_answers_meanwhile(client, folder):
    from action_msgs.msg import GoalStatus

    from robot_id_msgs.msg import ErrorCode
    from robot_id_msgs.srv import ListMethods

    goal = send(client, method='cloe', **SLOW)
    client.spin_until(lambda: any('simulations' in f.text for f in goal.feedback), 60.0)
    # How quickly, bench/bench_ros_loop.py measures.
    client.call(ListMethods, 'identification_server/list_methods')
    other = ask(client)
    assert other.error_code == ErrorCode.BUSY
    assert 'cloe on run' in other.error_string
    assert goal.cancel()
    status, answer = goal.result()
    assert (status, answer.error_code) == (GoalStatus.STATUS_CANCELED, ErrorCode.CANCELED)
    # Nothing half done is left, and the next request works.
    assert not list(folder.glob('run.results/*cloe*'))
    assert ask(client).error_code == 0


@pytest.mark.parametrize('reports', [0, 1, 3])
def test_cancel_at_any_stage(client, folder, reports):
    """Before the first report of progress, while it reads, while it works."""
    from action_msgs.msg import GoalStatus

    from robot_id_msgs.msg import ErrorCode

    goal = send(client, method='cloe', **SLOW)
    client.spin_until(lambda: len(goal.feedback) >= reports, 60.0, f'{reports} reports')
    assert goal.cancel()
    status, answer = goal.result()
    assert (status, answer.error_code) == (GoalStatus.STATUS_CANCELED, ErrorCode.CANCELED)
    assert not list(folder.glob('run.results/*cloe*'))


def test_worker_that_dies_is_told_and_replaced(client, server):
    from robot_id_msgs.msg import ErrorCode

    goal = send(client, method='cloe', **SLOW)
    client.spin_until(lambda: any('simulations' in f.text for f in goal.feedback), 60.0)
    for worker in workers_of(server):
        os.kill(worker, signal.SIGKILL)
    _, answer = goal.result()
    assert answer.error_code == ErrorCode.INTERNAL_ERROR
    assert 'ended with -9' in answer.error_string
    assert ask(client).error_code == 0


def test_time_limit(client):
    from robot_id_msgs.msg import ErrorCode

    client.set_parameters('identification_server', {'service_time_limit_s': 1.0})
    answer = ask(client, method='cloe', **SLOW)
    client.set_parameters('identification_server', {'service_time_limit_s': 60.0})
    assert answer.error_code == ErrorCode.TIMEOUT


def test_recording_under_way_is_not_the_last_one(client, folder):
    from robot_id.ros.qos import LATCHED
    from robot_id_msgs.msg import ErrorCode, RecordingStatus

    publisher = client.node.create_publisher(RecordingStatus, 'data_logger/status', LATCHED)
    client.spin_until(publisher.get_subscription_count, what='the server listens')
    # A topic and a service keep no order among each other: asked until the server has heard.
    publisher.publish(RecordingStatus(recording=True, bag='run'))
    client.spin_until(
        lambda: 'stop it first' in ask(client, bag='').error_string, what='the server hears'
    )
    assert ask(client, bag='').error_code == ErrorCode.INVALID_STATE
    publisher.publish(RecordingStatus(recording=False, bag='nothing'))
    client.spin_until(
        lambda: "'nothing'" in ask(client, bag='').error_string, what='the server hears'
    )


@pytest.mark.parametrize('end', [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_and_kill_9_in_the_middle_leave_no_process(folder, end):
    from running.client import Client
    from running.node_process import NodeProcess

    settings = {'data_directory': str(folder), 'robot': 'emps'}
    with (
        NodeProcess('identification_server', parameters=settings, namespace='brief') as node,
        Client(namespace='brief') as client,
    ):
        goal = send(client, method='cloe', **SLOW)
        client.spin_until(lambda: any('simulations' in f.text for f in goal.feedback), 60.0)
        workers = workers_of(node)
        assert workers
        node.process.send_signal(end)
        assert node.wait(120) == (0 if end == signal.SIGINT else -signal.SIGKILL)
        # Killed itself, a server cannot kill its worker: that one ends with its input.
        client.spin_until(lambda: not any(map(runs, workers)), 60.0, 'the worker ends')
        assert 'Traceback' not in node.log


def test_unknown_robot_ends_the_node_with_one_line():
    from running.node_process import NodeProcess

    with NodeProcess('identification_server', parameters={'robot': 'empss'}) as node:
        assert node.wait(120) == 2
        assert "did you mean 'emps'" in node.log
        assert 'Traceback' not in node.log
