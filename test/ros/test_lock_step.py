"""In lock-step the loop over DDS gives the samples of the simulator in one process."""

import time
from dataclasses import replace

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from geometry_msgs.msg import Inertia
from ros_helpers.client import Client
from ros_helpers.robot_graph import EVERYTHING, START_S, bring_up, node, stamps
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from robot_id.control import run_ilic, tune
from robot_id.dynamics import Disturbances, simulate
from robot_id.model import load_robot
from robot_id.trajectory.default import motion_of
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import ResetSimulation, SetPayload

SIM = {'robot': 'emps', 'use_sim_time': True, 'lock_step': True}
GENERATOR = {'robot': 'emps', 'use_sim_time': True, 'autostart': True}


def columns(messages):
    order = np.argsort(stamps(messages), kind='stable')
    first = [messages[i] for i in order]
    return (np.array([getattr(m, name) for m in first]) for name in ('position', 'effort'))


def first_pass(states):
    """Return the states before time is put back, each stamp once."""
    unique, last = [], -1
    for message, ns in zip(states, stamps(states)):
        if ns == last:
            continue
        if ns < last:
            break
        last = ns
        unique.append(message)
    return unique


def test_computed_torque_with_noise_and_learning_equals_the_run_in_one_process(record_property):
    robot, N = load_robot('emps'), 8000
    with (
        Client(namespace='lock') as client,
        node('trajectory_generator', 'lock', **GENERATOR),
        node('ctc_controller', 'lock', **SIM, learning=True, window_s=6.2),
        node('ddm_simulator', 'lock', **SIM, seed=5),
    ):
        states = client.collect(JointState, 'joint_states', EVERYTHING)
        clocks = client.collect(Clock, '/clock', EVERYTHING)
        # The order does not matter: the first state waits for its answer.
        bring_up(client, 'ddm_simulator')
        bring_up(client, 'ctc_controller')
        client.spin_until(lambda: len(states) > 200, START_S, 'the loop runs')
        before, begin = len(states), time.perf_counter()
        client.spin_until(lambda: len(states) > N + 200, 200.0, f'{N} states')
        rate = (len(states) - before) / (time.perf_counter() - begin)
    record_property('steps_per_second', rate)
    print(f'lock-step: {rate:.0f} steps/s')
    run = first_pass(states)
    assert len(run) > N
    assert np.array_equal(stamps(run)[:N], np.arange(N) * 1_000_000)
    assert clocks[-1].clock.sec >= N // 1000 - 1
    q, tau = columns(run)

    motion = motion_of(robot)
    # The controller learns from what it told the drives; noise is on the recorded torque only.
    noise = replace(Disturbances.of_robot(robot, 5), torque_std=None)
    whole = run_ilic(
        robot, robot.truth(), motion, 2, disturbances=noise, keep=True,
        ilic_options={'window_s': 6.2},
    )  # fmt: skip
    std = robot.description.noise.torque_std
    added = np.random.default_rng([5, 1]).normal(size=(N, 1)) * std
    told = np.concatenate([cycle.simulation.measured_position for cycle in whole.cycles])
    torque = np.concatenate([cycle.simulation.measured_torque for cycle in whole.cycles])
    assert np.abs(q[:N] - told[:N]).max() < 1e-12
    recorded = (torque[:N] + added)[: N - 1]
    assert np.abs(tau[1:N] - recorded).max() < 1e-12 * np.abs(torque).max()
    # The second cycle is driven by what was learned from the first one.
    assert whole.cycles[1].tracking_error[0] < 0.5 * whole.cycles[0].tracking_error[0]


def test_the_robots_own_loop_equals_simulate_and_reset_begins_anew_bit_by_bit():
    robot, N = load_robot('emps'), 1500
    with (
        Client(namespace='own') as client,
        node('ddm_simulator', 'own', **SIM, mode='closed_loop', noise=False),
        node('trajectory_generator', 'own', **GENERATOR),
    ):
        states = client.collect(JointState, 'joint_states', EVERYTHING)
        bring_up(client, 'ddm_simulator')
        client.spin_until(lambda: len(states) > N, START_S, f'{N} states')
        answer = client.call(ResetSimulation, 'ddm_simulator/reset')
        assert answer.error_code == ErrorCode.SUCCESS, answer.error_string
        at = len(states)
        client.spin_until(lambda: len(states) > at + N + 500, START_S, 'states after the reset')
    runs = [first_pass(states)]
    anew = int(np.flatnonzero(np.diff(stamps(states)) < 0)[-1]) + 1
    runs.append(first_pass(states[anew:]))
    loop = robot.loop('default')
    reference = motion_of(robot).sampled(loop.rate_hz)
    told = simulate(robot, robot.truth(), reference, tune(robot, loop))
    for run in runs:
        q, tau = columns(run)
        assert len(q) >= N
        assert np.abs(q[:N] - told.measured_position[:N]).max() < 1e-12
        assert np.abs(tau[1:N] - told.torque[: N - 1]).max() < 1e-9


def test_payload_and_reset_of_the_simulator_and_requests_it_refuses():
    with (
        Client(namespace='load') as client,
        node('ddm_simulator', 'load', robot='scara', on_stale='hold'),
    ):
        name = 'ddm_simulator'
        states = client.collect(JointState, 'joint_states', EVERYTHING)
        bring_up(client, name)

        def reset(**fields):
            return client.call(ResetSimulation, f'{name}/reset', ResetSimulation.Request(**fields))

        assert reset(joint_names=['elbow'], positions=[0.5]).error_code == ErrorCode.SUCCESS
        client.spin_until(
            lambda: abs(states[-1].position[states[-1].name.index('elbow')] - 0.5) < 0.01,
            30.0,
            'the elbow where it was put',
        )
        for fields, told in (
            ({'joint_names': ['elbo'], 'positions': [0.5]}, "did you mean 'elbow'"),
            ({'joint_names': ['elbow'], 'positions': []}, '0 values of position'),
            ({'joint_names': ['elbow'], 'positions': [float('nan')]}, 'not finite'),
            ({'positions': [0.5]}, '1 values of position for 0 joints'),
        ):
            answer = reset(**fields)
            assert answer.error_code == ErrorCode.INVALID_DATA
            assert told in answer.error_string

        def load(mass, link='', ixx=0.0):
            request = SetPayload.Request(link=link, inertia=Inertia(m=mass, ixx=ixx))
            return client.call(SetPayload, f'{name}/set_payload', request)

        assert load(2.0).error_code == ErrorCode.SUCCESS
        assert load(0.0).error_code == ErrorCode.SUCCESS
        assert 'not be negative' in load(-1.0).error_string
        assert 'principal inertias' in load(1.0, ixx=1.0).error_string
        assert "did you mean 'elbow'" in load(1.0, 'elbw').error_string
