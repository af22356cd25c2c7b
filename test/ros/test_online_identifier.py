"""The on-line identifier on real processes: it learns, it refuses what is wrong, it forgets."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(400)]
START_S = 120.0


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    from running.simulated_bag import simulated_bag

    path = tmp_path_factory.mktemp('source') / 'run'
    simulated_bag(path, seconds=6.0)
    return path


def start(namespace, **settings):
    from running.node_process import NodeProcess

    settings = {'robot': 'emps', 'publish_period_s': 0.2, **settings}
    return NodeProcess('online_identifier', parameters=settings, namespace=namespace)


def play(bag, namespace, **settings):
    from running.node_process import NodeProcess

    return NodeProcess('replay', parameters={'bag': str(bag), **settings}, namespace=namespace)


def latched(client, kind, topic):
    from robot_id.ros.qos import LATCHED

    return client.collect(kind, topic, LATCHED)


def check_estimate(status, last, sent, nominal):
    """Check the last message against the truth and against the last status."""
    from robot_id.methods.recursive.sizes import nominal_sizes
    from robot_id.robot import load_robot
    from robot_id_msgs.msg import OnlineStatus

    robot = load_robot('emps')
    assert list(last.names) == list(robot.base.names)
    # A machine that is too busy loses some; they are gaps, and the estimate goes on.
    assert status.samples + status.rejected == sent or status.gaps
    assert status.samples > 0.5 * sent
    assert last.update > 3
    found, truth = dict(zip(last.names, last.values)), dict(zip(last.names, robot.truth()))
    start_error = robot.a_priori() - robot.truth()
    for name, error in zip(last.names, start_error):
        if not name.startswith('Off'):
            assert found[name] == pytest.approx(truth[name], rel=0.1), name
            assert abs(found[name] - truth[name]) < 0.5 * abs(error), name
    assert status.relative_error_percent < 30
    assert 1.0 < status.condition_number < 1e4
    assert status.smallest_singular_value > 0.0
    if status.header == last.header and set(status.states) == {OnlineStatus.LIVE}:
        relative = np.array(last.standard_deviations) / nominal_sizes(last.names, nominal)
        assert status.covariance_trace == pytest.approx(np.sum(relative**2), rel=1e-6)
    assert status.covariance_trace > 0.0
    assert set(status.states) <= {
        OnlineStatus.LIVE, OnlineStatus.FROZEN, OnlineStatus.PARTIAL,
    }  # fmt: skip


@pytest.mark.parametrize('method', ['rls', 'riv'])
def test_parameters_come_near_the_truth(bag, tmp_path, method):
    from running.client import Client
    from running.robot_graph import stamps

    from robot_id.data import load
    from robot_id.methods import registry
    from robot_id.robot import load_robot
    from robot_id_msgs.msg import DynamicParameters, OnlineStatus
    from robot_id_msgs.srv import ResetEstimate

    robot, settings = load_robot('emps'), {'method': method}
    nominal = robot.a_priori()
    if method == 'rls':
        # Start values of an earlier identification; riv does without, from frictions of zero.
        run = load(bag, robot=robot)
        short = dataclasses.replace(run, runs=(run.runs[0].rows(0, 1500),))
        rough = registry.create('idim_wls').estimate(robot, short)
        rough.save(tmp_path / 'rough.json')
        nominal = rough.values
        settings['nominal'] = str(tmp_path / 'rough.json')
    with Client(namespace='a') as client, start('a', **settings) as node:
        parameters = latched(client, DynamicParameters, 'online_identifier/dynamic_parameters')
        statuses = latched(client, OnlineStatus, 'online_identifier/status')
        with play(bag, 'a', wait_timeout_s=START_S) as replay:
            client.spin_until(
                lambda: replay.process.poll() is not None, START_S, 'end of the replay'
            )
            sent = int(replay.wait_for_log(r'joint_states=(\d+)')[1])
        # What is still in the queue of a busy node comes as well, up to the last sample.
        client.spin_until(
            lambda: statuses and stamps(statuses)[-1] == 10**6 * (sent - 1),
            120.0,
            'the last sample is used',
        )
        status, last = statuses[-1], parameters[-1]
        assert (last.robot, last.method) == ('emps', method)
        check_estimate(status, last, sent, nominal)
        # A reset starts again from the values that are given.
        request = ResetEstimate.Request()
        request.parameters.names = [last.names[0], 'Fc9']
        request.parameters.values = [1.0, 1.0]
        answer = client.call(ResetEstimate, 'online_identifier/reset', request)
        assert answer.error_code != 0
        assert "'Fc9'" in answer.error_string
        answer = client.call(ResetEstimate, 'online_identifier/reset')
        assert answer.error_code == 0
        assert node.stop() == 0


def test_kill_9_of_the_replay_and_of_the_identifier(bag):
    """Without measurements it says so and goes on with the next ones; the replay needs nobody."""
    from running.client import Client
    from running.robot_graph import Health
    from sensor_msgs.msg import JointState

    name = 'k/online_identifier: estimation'
    endless = {'loop': True, 'wait_timeout_s': START_S}
    with Client(namespace='k') as client, start('k') as identifier:
        health = Health(client)

        def used():
            return int(health.values(name).get('samples', 0))

        with play(bag, 'k', **endless) as replay:
            client.spin_until(lambda: used() > 1000, START_S, 'it takes in samples')
            replay.kill()
        client.spin_until(
            lambda: health.of(name).message == 'no joint states', START_S, 'it misses them'
        )
        before = used()
        with play(bag, 'k', **endless) as replay:
            client.spin_until(lambda: used() > before + 1000, START_S, 'it goes on')
            identifier.kill()
            states = client.collect(JointState, 'joint_states', 1000)
            client.spin_until(lambda: len(states) > 500, START_S, 'the replay goes on alone')
            assert replay.process.poll() is None
            with start('k') as late:
                first = len(health.history(name))
                client.spin_until(
                    lambda: any(int(v['samples']) > 500 for v in health.history(name)[first:]),
                    START_S,
                    'one that comes late takes part',
                )
                assert late.stop() == 0
            assert replay.stop() == 0


def test_bad_samples_are_refused_and_counted():
    from ros_helpers.source import Source, joint_state
    from running.client import Client

    from robot_id.robot import load_robot
    from robot_id_msgs.msg import OnlineStatus

    joint = load_robot('emps').joint_names[0]
    refused = {'nan': 0}

    def spoil(k, message):
        message.name, bad = [joint], None
        message.effort = [10.0]
        if k == 300:
            message.position = [float('nan')]
        elif k == 320:
            message.effort = [float('inf')]
        elif k == 340:
            message.name = ['elbow']
        elif k == 360:
            message.effort = []
        elif k == 380:
            bad = joint_state(k - 1)
            bad.name = [joint]
        elif k == 400:
            bad = message
        elif k == 420:
            # In another order, with one more joint: by name it is fine.
            message.name = ['gripper', joint]
            message.position = [9.0, message.position[0]]
            message.effort = [9.0, 10.0]
        elif 440 <= k < 450:
            return []
        refused['nan'] += k in (300, 320, 340, 360, 380, 400)
        return [message] if bad is None else [bad, message]

    with Client(namespace='d') as client, start('d') as node:
        node.wait_for_log('ready', START_S)
        statuses = latched(client, OnlineStatus, 'online_identifier/status')
        with Source('d', change=spoil) as source:
            source.start(count=600).wait()
        client.spin_until(
            lambda: statuses and statuses[-1].samples + statuses[-1].rejected >= source.sent - 1,
            60.0,
            'all samples are judged',
        )
        status = statuses[-1]
        # A message of other joints only is no sample of this robot.
        assert (status.samples, status.rejected) == (source.sent - 6, 5)
        # Three samples were refused as a whole, each leaves a hole; ten never came.
        assert status.gaps >= 1
        values = list(status.names)
        assert values
        assert status.window.sec + status.window.nanosec > 0
        assert node.stop() == 0
        assert 'Traceback' not in node.log


def test_joint_states_without_effort_and_commands_give_the_parameters(tmp_path):
    """A PD loop with known gains, told by the mapping: M ddq + Fv dq + Fc sign(dq) + Off."""
    from ros_helpers.source import Source
    from running.client import Client
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from robot_id.robot import load_robot
    from robot_id_msgs.msg import DynamicParameters

    robot = load_robot('emps')
    truth = robot.truth()
    kp, kd, rate, plan = 2e5, 800.0, 500.0, {}
    mapping = tmp_path / 'pd.yaml'
    mapping.write_text(
        'topics: {}\nreference_position: {}\n'
        f'torque: {{from: pd, kp: {kp}, kd: {kd}, delay: {2 / rate}}}\n'
    )

    def motion(t):
        q = 0.05 * np.sin(6 * t) + 0.03 * np.sin(15 * t + 1)
        dq = 0.3 * np.cos(6 * t) + 0.45 * np.cos(15 * t + 1)
        return q, dq, -1.8 * np.sin(6 * t) - 6.75 * np.sin(15 * t + 1)

    def instead(k, message):
        from robot_id import dynamics

        q, dq, _ = motion(k / rate)
        # What is computed now acts two samples later.
        later = [np.array([[x]]) for x in motion((k + 2) / rate)]
        torque = float(dynamics.inverse_dynamics(robot, truth, *later)[0, 0])
        goal = JointTrajectory(joint_names=list(robot.joint_names), header=message.header)
        goal.points = [JointTrajectoryPoint(positions=[q + (torque + kd * dq) / kp])]
        plan['publisher'].publish(goal)
        message.name, message.position, message.effort = list(robot.joint_names), [q], []
        return [message]

    with Client(namespace='p') as client, start('p', mapping=str(mapping)) as node:
        node.wait_for_log('ready', START_S)
        found = latched(client, DynamicParameters, 'online_identifier/dynamic_parameters')
        with Source('p', rate=rate, change=instead) as source:
            plan['publisher'] = source.node.create_publisher(JointTrajectory, 'reference', 1000)
            source.start(count=3000).wait()
        client.spin_until(
            lambda: found and found[-1].header.stamp.sec >= 105, 60.0, 'the last samples are used'
        )
        values = dict(zip(found[-1].names, found[-1].values))
        for name, value in zip(robot.base.names, truth):
            assert values[name] == pytest.approx(value, rel=0.05, abs=2.0), name
        assert node.stop() == 0
        assert 'Traceback' not in node.log


@pytest.mark.parametrize(
    ('settings', 'text'),
    [
        ({'method': 'rsl'}, "did you mean 'rls'"),
        ({'noise': [1.0, 2.0]}, 'expected 1 or 1'),
    ],
)
def test_bad_settings_end_the_node_with_one_line(settings, text):
    with start('e', **settings) as node:
        assert node.wait(START_S) == 2
        assert text in node.log
        assert 'Traceback' not in node.log
