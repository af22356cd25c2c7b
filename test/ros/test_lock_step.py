"""In lock-step the loop over DDS gives the samples of the simulator in one process."""

from dataclasses import replace

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from geometry_msgs.msg import Inertia
from rosgraph_msgs.msg import Clock
from running.client import Client
from running.robot_graph import EVERYTHING, bring_up, graph, node, stamps
from sensor_msgs.msg import JointState

from robot_id.control import tune
from robot_id.dynamics import Disturbances, simulate
from robot_id.robot import load_robot
from robot_id.tasks import run_ilic
from robot_id.trajectory.default import motion_of
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import ResetSimulation, SetPayload

# A busy machine takes its time; the samples are the same.
WORK_S = 200.0
MS = 1_000_000
LOCK = {'use_sim_time': True, 'lock_step': True}
GENERATOR = {'use_sim_time': True, 'start_motion': True}


def runs(states):
    """Return lists of states, each from a start of the time on, each stamp once."""
    found, last = [[]], -1
    for message, ns in zip(states, stamps(states)):
        if ns < last:
            found.append([])
        if ns != last:
            found[-1].append(message)
        last = ns
    return found


def position_and_effort(run):
    return (np.array([getattr(m, name) for m in run]) for name in ('position', 'effort'))


# Of the TX40 without noise: a node knows where the robot stands from its first measurement only.
@pytest.mark.parametrize(('name', 'N', 'noise'), [('emps', 3600, True), ('tx40', 800, False)])
def test_computed_torque_and_learning_equal_the_run_in_one_process(name, N, noise):
    robot = load_robot(name)
    motion, rate = motion_of(robot), robot.loop('learning').rate_hz
    start = motion.sample(0.0)[0].tolist()
    common = {'robot': name, 'rate_hz': rate}
    with (
        Client(namespace='lock') as client,
        graph(
            ('trajectory_generator', 'lock', {**common, **GENERATOR}),
            ('ctc_controller', 'lock', {**common, **LOCK, 'learning': True, 'window_s': 1.5}),
            (
                'ddm_simulator',
                'lock',
                {**common, **LOCK, 'noise': noise, 'seed': 5, 'initial_position': start},
            ),
        ),
    ):
        states = client.collect(JointState, 'joint_states', EVERYTHING)
        clocks = client.collect(Clock, '/clock', EVERYTHING)
        # The order does not matter: the first state waits for its answer.
        bring_up(client, 'ddm_simulator')
        bring_up(client, 'ctc_controller')
        client.spin_until(lambda: len(states) > N + 200, WORK_S, f'{N} states')
    run = runs(states)[0]
    assert len(run) > N
    assert np.array_equal(stamps(run)[:N], np.round(np.arange(N) * 1e9 / rate).astype(int))
    # The time of every hundredth of a second, in order; the first one was sent again.
    times = [c.clock.sec * 10**9 + c.clock.nanosec for c in clocks]
    assert times == sorted(times)
    assert sorted(set(times))[: N // 10] == [k * 10**7 for k in range(N // 10)]
    q, tau = position_and_effort(run)

    # The controller learns from what it told the drives; noise is on the recorded torque only.
    disturbances = replace(Disturbances.of_robot(robot, 5), torque_std=None) if noise else None
    whole = run_ilic(
        robot, robot.truth(), motion, 1, disturbances=disturbances, keep=True,
        ilic_options={'window_s': 1.5, 'physical': True},
    )  # fmt: skip
    std = np.array(robot.description.noise.torque_std) if noise else 0.0
    added = np.random.default_rng([5, 1]).normal(size=(N, robot.n)) * std
    told = whole.cycles[0].simulation.measured_position
    torque = whole.cycles[0].simulation.measured_torque
    assert np.abs(q[:N] - told[:N]).max() < 1e-12
    recorded = (torque[:N] + added)[: N - 1]
    assert np.abs(tau[1:N] - recorded).max() < 1e-12 * np.abs(torque).max()
    if name == 'emps':
        # What was learned on the way drives the rest of it.
        taught = [update.time for update in whole.updates if update.accepted]
        assert taught[:2] == [1.5, 3.0]


def test_the_robots_own_loop_equals_simulate_and_reset_begins_anew_bit_by_bit():
    robot, N = load_robot('emps'), 1000
    own = {'robot': 'emps', **LOCK, 'mode': 'closed_loop', 'noise': False}
    with (
        Client(namespace='own') as client,
        graph(
            ('ddm_simulator', 'own', own),
            ('trajectory_generator', 'own', {'robot': 'emps', **GENERATOR}),
        ),
    ):
        states = client.collect(JointState, 'joint_states', EVERYTHING)
        bring_up(client, 'ddm_simulator')

        def time():
            return stamps(states[-1:])[0] if states else 0

        client.spin_until(lambda: time() > N * MS, WORK_S, f'{N} states')
        answer = client.call(ResetSimulation, 'ddm_simulator/reset')
        assert answer.error_code == ErrorCode.SUCCESS, answer.error_string
        # States of before the reset may still be on their way.
        client.spin_until(lambda: time() < N * MS, WORK_S, 'the time to go back')
        client.spin_until(lambda: time() > N * MS, WORK_S, 'states anew')
    loop = robot.loop('default')
    reference = motion_of(robot).sampled(loop.rate_hz)
    told = simulate(robot, robot.truth(), reference, tune(robot, loop))
    assert len(runs(states)) == 2
    for run in runs(states):
        assert np.array_equal(stamps(run)[:N], np.arange(N) * MS)
        q, tau = position_and_effort(run)
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
