"""Robots whose drivers have other topics, names, signs and units than ours."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from running.client import Client
from running.node_process import NodeProcess
from running.robot_graph import EVERYTHING, START_S, bring_up, graph, stamps
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_id import data
from robot_id.control import ComputedTorque
from robot_id.control.runtime.compensation import Compensation
from robot_id.robot import load_robot
from robot_id.ros.durations import to_stamp
from robot_id.tasks import run_ilic
from robot_id.trajectory.default import motion_of
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import Identify, StartRecording, StopRecording

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / 'test/ros_helpers/foreign_driver.py'
MAPPING = """\
joints: {axis_b: elbow, axis_a: shoulder}
topics: {joint_states: driver/states, effort_commands: driver/commands}
position: {unit: deg, scale: [-1, 1], offset: [0.1, 0]}
torque: {unit: mA, scale: [-8, 40]}
control: {unit: '%', scale: [-20, 150]}
"""
# A link of 2 kg, 0.2 m from its axis.
HEAVY = {'M2': 2.0, 'MX2': 0.4, 'XX2': 0.1, 'YY2': 0.2, 'ZZ2': 0.2}
LOCK = {'lock_step': True, 'use_sim_time': True}
N = 3000


def test_a_robot_behind_a_foreign_driver_moves_and_is_identified_as_without_it(tmp_path):
    robot = load_robot('scara')
    mapping = tmp_path / 'foreign.yaml'
    mapping.write_text(MAPPING)
    rate = robot.loop('learning').rate_hz
    common = {'robot': 'scara', 'rate_hz': rate, 'mapping': str(mapping)}
    start = motion_of(robot).sample(0.0)[0].tolist()
    loop = {
        **common,
        **LOCK,
        'joints': ['axis_b', 'axis_a'],
        'autostart': True,
        'start_motion': True,
    }
    place = {'data_directory': str(tmp_path), 'mapping': str(mapping)}
    plant = {'robot': 'scara', 'rate_hz': rate, **LOCK, 'noise': False, 'initial_position': start}
    with (
        Client(namespace='other') as client,
        NodeProcess([sys.executable, str(DRIVER)], namespace='other') as driver,
        graph(
            ('ddm_simulator', 'other/inner', plant),
            ('data_logger', 'other', place),
            ('identification_server', 'other', {**place, 'robot': 'scara', 'plots': False}),
        ),
    ):
        driver.wait_for_log('ready', START_S)
        states = client.collect(JointState, 'inner/joint_states', EVERYTHING)
        request = StartRecording.Request(name='foreign')
        assert not client.call(StartRecording, 'data_logger/start', request).error_code
        bring_up(client, 'inner/ddm_simulator')
        with graph(('control_loop', 'other', loop)):
            client.spin_until(lambda: len(states) > N, START_S, f'{N} states')
        answer = client.call(StopRecording, 'data_logger/stop')
        assert answer.error_code == ErrorCode.SUCCESS, answer.error_string
        request = Identify.Request(bag='foreign', method='idim_wls')
        found = client.call(Identify, 'identification_server/identify', request, START_S)
        assert found.error_code == ErrorCode.SUCCESS, found.error_string

    # The same samples as in one process, where no driver stands between.
    told = run_ilic(robot, robot.truth(), motion_of(robot), 1, keep=True).cycles[0].simulation
    unique = {int(ns): state for ns, state in zip(stamps(states), states)}
    moved = np.array([unique[ns].position for ns in sorted(unique)])[: N // 2]
    assert np.abs(moved - told.measured_position[: N // 2]).max() < 1e-9

    # What was recorded in the driver's words is what the robot did.
    run = data.load(tmp_path / 'foreign', mapping, robot).runs[0]
    efforts = np.array([unique[ns].effort for ns in sorted(unique)])
    assert np.abs(run.position[: N // 2] - moved).max() < 1e-9
    assert np.abs(run.torque[: N // 2] - efforts[: N // 2]).max() < 1e-9 * np.abs(efforts).max()
    assert run.reference_position is not None
    assert found.result.relative_error_percent < 1.0


def arm_file(path: Path, names, gains=None) -> Path:
    """Write a robot of these joints, whose motors turn themselves and one heavy link."""
    joints = [{'name': name, 'limits': {'torque': 1000}} for name in names]
    for joint, gain in zip(joints, gains or ()):
        joint['drive_gain'] = gain
    n = len(names)
    loop = {
        'law': 'computed_torque', 'bandwidth': [30] * n, 'damping': [1] * n, 'rate_hz': 500,
    }  # fmt: skip
    rows = [{'alpha': (j % 2) * 1.5707963267948966, 'd': 0.3} for j in range(n)]
    robot = {
        'name': 'arm', 'mdh': rows, 'gravity': [0, 0, -9.81], 'joints': joints,
        'loops': {'learning': loop},
        'a_priori': {**HEAVY, **{f'Ia{j + 1}': 1.0 + j for j in range(n)}},
    }  # fmt: skip
    path.write_text(yaml.safe_dump(robot))
    return path


@pytest.mark.parametrize('make', ['ur', 'franka', 'kuka'])
def test_the_parameter_file_of_a_make_reaches_its_driver(make, tmp_path):
    file = ROOT / f'config/drivers/{make}.yaml'
    given = yaml.safe_load(file.read_text())['/**']['ros__parameters']
    mapping = data.load_mapping(given['mapping'])
    names = mapping.recorded_joints()
    n, dry = len(names), make == 'ur'
    robot = load_robot(arm_file(tmp_path / 'arm.yaml', names, [10.0] * n if dry else None))
    arguments = ['--ros-args', '--params-file', str(file)]
    settings = {
        'robot': str(tmp_path / 'arm.yaml'), 'trajectory': '', 'state_timeout_s': 9.0,
        'dry_run': dry, 'soft_start_s': 0.0,
    }  # fmt: skip
    topic = 'ctc_controller/dry_run_commands' if dry else mapping.topics.effort_commands
    with (
        Client(namespace=make) as client,
        NodeProcess(
            'ctc_controller', parameters=settings, namespace=make, arguments=arguments
        ) as process,
    ):
        process.wait_for_log('ready', START_S)
        bring_up(client, 'ctc_controller')
        answers = client.collect(Float64MultiArray, topic, 10)
        publisher = client.node.create_publisher(JointState, mapping.topics.joint_states, 10)
        client.spin_until(
            lambda: publisher.get_subscription_count() and client.node.count_publishers(topic),
            START_S,
            'the controller',
        )
        client.spin_for(0.5)
        # As joint_state_broadcaster does: in an order of its own.
        order = [*range(1, n), 0]
        period = round(1e9 / given['rate_hz'])
        start, moved = np.linspace(0.1, 0.5, n), np.linspace(0.1, 0.5, n) + 1e-4 * np.arange(n)
        for k, position in enumerate((start, moved)):
            message = JointState(name=[names[j] for j in order], position=list(position[order]))
            message.header.stamp = to_stamp(10**9 + k * period)
            publisher.publish(message)
            client.spin_until(lambda k=k: len(answers) > k, START_S, f'answer {k + 1}')
        sent = client.node.count_publishers(mapping.topics.effort_commands)
    law = ComputedTorque(robot, loop=robot.loop('learning').model_copy(
        update={'rate_hz': given['rate_hz']}))  # fmt: skip
    rest = np.zeros(n)
    law.step(start, start, rest, rest)
    carried = Compensation(robot, mapping.control.compensated)(robot.a_priori(), moved, rest)
    assert np.any(carried) == (make != 'ur')
    torque = law.step(moved, start, rest, rest) - carried
    expected = dict(zip(robot.joint_names, torque))
    assert answers[1].layout.dim[0].label == ','.join(given['joints'])
    assert list(answers[1].data) == pytest.approx([expected[name] for name in given['joints']])
    assert sent == (0 if dry else 1)
