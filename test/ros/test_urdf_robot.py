"""A robot of which nothing but its URDF is known moves, is recorded, identified and controlled."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from builtin_interfaces.msg import Duration
from running.client import Client
from running.robot_graph import START_S, Health, graph, node

from robot_id.robot import load_robot
from robot_id_msgs.msg import RecordingStatus
from robot_id_msgs.srv import Identify, StartRecording

URDF = str(Path(__file__).resolve().parents[2] / 'urdf/tx40.urdf')
COMMON = {'robot': URDF, 'rate_hz': 500.0, 'lock_step': True, 'use_sim_time': True}
MOTION = {'trajectory': 'random', 'seconds': 4.0, 'start_motion': True}


def test_a_urdf_is_simulated_and_its_inertias_are_found_again(tmp_path):
    place = {'data_directory': str(tmp_path), 'use_sim_time': True}
    nodes = (
        ('data_logger', 'bare', place),
        ('identification_server', 'bare', {**place, 'robot': URDF, 'plots': False}),
        ('trajectory_generator', 'bare', {**COMMON, **MOTION}),
        ('ddm_simulator', 'bare', {**COMMON, 'mode': 'closed_loop', 'autostart': True}),
    )
    with Client(namespace='bare') as client, graph(*nodes):
        status = client.collect(RecordingStatus, 'data_logger/status')
        wanted = StartRecording.Request(name='run', max_duration=Duration(sec=6))
        assert client.call(StartRecording, 'data_logger/start', wanted).error_code == 0
        client.spin_until(
            lambda: any(s.bag == 'run' and not s.recording for s in status), START_S, 'recorded'
        )
        request = Identify.Request(bag='run', method='idim_wls')
        answer = client.call(Identify, 'identification_server/identify', request, 240.0)
    assert answer.error_code == 0, answer.error_string
    found = dict(zip(answer.result.parameters.names, answer.result.parameters.values))
    robot = load_robot(URDF)
    for name, value in zip(robot.base.names, robot.truth()):
        if abs(value) > 0.1:
            assert found[name] == pytest.approx(value, rel=0.01), name


def test_a_controller_takes_the_inertias_of_the_urdf_when_it_is_told_to():
    loop = {**COMMON, **MOTION, 'autostart': True, 'parameters': 'urdf'}
    nodes = (
        ('control_loop', 'told', loop),
        ('ddm_simulator', 'told', {**COMMON, 'autostart': True}),
    )
    with Client(namespace='told') as client, graph(*nodes):
        health = Health(client)

        def control():
            return health.values('ctc_controller: control')

        client.spin_until(lambda: control().get('mode') == 'following', START_S, 'it follows')
        client.spin_until(
            lambda: float(control().get('rate_hz', 0)) > 0, START_S, 'a second of it'
        )
        errors = [float(v) for key, v in control().items() if key.startswith('peak_error_')]
    assert len(errors) == 6
    assert max(errors) < 0.01


def test_without_a_model_the_line_says_what_to_give():
    with node('ctc_controller', 'untold', robot=URDF, autostart=True) as process:
        process.wait_for_log('no model to start with', START_S)
        # A robot that starts by itself and cannot be used ends.
        assert process.wait(START_S) == 2
        assert 'urdf for the inertias of its URDF' in process.log
        assert 'Traceback' not in process.log
