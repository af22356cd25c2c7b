"""A load weighed while the robot works: recorded now, told on a topic, taken over in bounds."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(400)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia
from running.client import Client
from running.node_process import NodeProcess
from running.robot_graph import bring_up, graph

from robot_id.data import save
from robot_id.robot import Payload, load_robot, payload_parameters
from robot_id.ros.qos import LATCHED
from robot_id.tasks import record
from robot_id.tasks.identify import Request, identify
from robot_id.trajectory.default import motion_of
from robot_id_msgs.msg import DynamicParameters, ErrorCode, PayloadEstimate
from robot_id_msgs.srv import IdentifyPayload, SetPayload

SIM = {'use_sim_time': True}
LOCK = {'lock_step': True, **SIM}
WORK_S = 240.0


def put(client, node, mass):
    """Hang a load on a node's robot."""
    request = SetPayload.Request(inertia=Inertia(m=mass))
    answer = client.call(SetPayload, f'{node}/set_payload', request, 60.0)
    assert answer.error_code == ErrorCode.SUCCESS, answer.error_string


def test_the_server_has_a_recording_made_now(tmp_path):
    robot = load_robot('emps')
    save(record(robot, seed=1), tmp_path / 'empty')
    common, place = {'robot': 'emps', **SIM}, {'data_directory': str(tmp_path), **SIM}
    plant = {**common, 'lock_step': True, 'mode': 'closed_loop', 'noise': True, 'seed': 3}
    with (
        Client(namespace='now') as client,
        graph(
            ('trajectory_generator', 'now', {**common, 'start_motion': True}),
            ('ddm_simulator', 'now', plant),
            ('data_logger', 'now', place),
            ('identification_server', 'now', {**place, 'robot': 'emps'}),
        ),
    ):
        bring_up(client, 'ddm_simulator')
        put(client, 'ddm_simulator', 10.0)
        request = IdentifyPayload.Request(bag_without='empty', record_duration=Duration(sec=6))
        answer = client.call(
            IdentifyPayload, 'identification_server/identify_payload', request, WORK_S
        )
        assert answer.error_code == ErrorCode.SUCCESS, answer.error_string
        load = answer.payload
        assert load.detected
        assert abs(load.inertia.m - 10.0) < max(4.0 * load.standard_deviation.m, 0.2)


def test_the_online_identifier_tells_a_load_that_its_nominal_result_has_not(tmp_path):
    robot = load_robot('emps')
    heavier = robot.truth() + payload_parameters(robot, Payload(10.0))
    motion = motion_of(robot, 'random', 6.0, 1)
    empty = record(robot, motion, seed=1)
    identify(Request(robot, empty, holdout=0.0, check=False)).result.save(tmp_path / 'arm.json')
    save(record(robot, motion, seed=2, parameters=heavier), tmp_path / 'full')
    settings = {'robot': 'emps', 'publish_period_s': 0.2, 'nominal': str(tmp_path / 'arm.json')}
    with (
        Client(namespace='on') as client,
        NodeProcess('online_identifier', parameters=settings, namespace='on') as node,
    ):
        loads = client.collect(PayloadEstimate, 'online_identifier/payload', LATCHED)
        node.wait_for_log('ready', 120)
        played = {'bag': str(tmp_path / 'full'), 'wait_timeout_s': 120.0}
        with NodeProcess('replay', parameters=played, namespace='on') as replay:
            client.spin_until(
                lambda: replay.process.poll() is not None, WORK_S, 'the end of the replay'
            )
        client.spin_until(
            lambda: (
                loads and loads[-1].detected
                and abs(loads[-1].inertia.m - 10.0)
                < max(4.0 * loads[-1].standard_deviation.m, 0.5)
            ),
            60.0,
            'the load',
        )  # fmt: skip
        assert loads[-1].header.frame_id == 'link_1'


def test_a_load_within_the_bound_is_taken_over_by_itself():
    robot = load_robot('emps')
    common = {'robot': 'emps', 'rate_hz': robot.loop('learning').rate_hz}
    start = motion_of(robot).sample(0.0)[0].tolist()
    learner = {**common, **LOCK, 'learning': True, 'window_s': 1.5, 'payload_bound_kg': 12.0}
    plant = {**common, **LOCK, 'noise': True, 'seed': 5, 'initial_position': start}
    with (
        Client(namespace='bound') as client,
        graph(
            ('trajectory_generator', 'bound', {**common, 'start_motion': True, **SIM}),
            ('ctc_controller', 'bound', learner),
            ('ddm_simulator', 'bound', plant),
        ) as nodes,
    ):
        models = client.collect(DynamicParameters, 'ctc_controller/dynamic_parameters', LATCHED)
        loads = client.collect(PayloadEstimate, 'ctc_controller/payload', LATCHED)
        bring_up(client, 'ddm_simulator')
        bring_up(client, 'ctc_controller')
        client.spin_until(lambda: len(loads) > 1, WORK_S, 'a tare')
        put(client, 'ddm_simulator', 10.0)
        client.spin_until(
            lambda: abs(dict(zip(models[-1].names, models[-1].values))['M1'] - 105.0) < 1.5,
            WORK_S,
            'the model with the load',
        )
        assert 'the load has changed' not in nodes[1].log
