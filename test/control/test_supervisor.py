"""The supervisor: mistakes of a set-up are named, with little torque and motion; nothing else."""

import numpy as np
import pytest
from supervised_run import SupervisedRun

from robot_id.control import ComputedTorque
from robot_id.control.runtime.torque_control import Mode, TorqueControl
from robot_id.control.supervision.rows import SENT
from robot_id.control.supervision.supervisor import SPEED_MARGIN, Kind, start_errors
from robot_id.dynamics import bias
from robot_id.robot import load_robot
from robot_id.trajectory import Quintic

BENT = (0.3, 0.8, 0.7, 0.2, 0.5, 0.1)
MOVES = {
    'emps': ((), (0.1,)),
    'scara': ((), (0.3, 0.3)),
    'tx40': (BENT, (0.4, 0.3, -0.3, 0.4, 0.3, 0.5)),
}
MS = 1_000_000


def small(run):
    """Whether a start was as small as is promised: 5 degrees, a fifth of the torque limits."""
    slow = run.angle <= 2.0 * start_errors(run.robot)
    return bool(np.all(slow) and np.all(run.torque <= 0.2 * run.robot.limits.torque))


@pytest.mark.parametrize('name', list(MOVES))
@pytest.mark.parametrize('model', ['truth', 'a_priori'])
def test_a_robot_without_a_mistake_starts_and_follows(name, model):
    start, move = MOVES[name]
    # A model without gravity is for an arm that stands upright.
    run = SupervisedRun(name, start * (model == 'truth'), move, model=model, seconds=3.0)
    assert run.trip is None, run.trip.text
    assert run.control.mode is Mode.FOLLOWING


def test_a_robot_without_brakes_sinks_for_some_samples_and_gets_its_whole_gravity():
    run = SupervisedRun('tx40', BENT, seconds=0.3)
    assert run.trip is None, run.trip.text
    weight = bias(run.robot, run.robot.truth(), np.array(BENT), np.zeros(6))
    torque = run.control.supervisor.state[SENT]
    assert torque[:3] == pytest.approx(weight[:3], abs=0.02 * run.robot.limits.torque[1])
    assert np.all(run.angle < np.radians(0.5))


def test_a_brake_that_opens_late_is_no_mistake_and_the_gravity_of_the_model_grows():
    control, (weight, heavy) = held('tx40', soft_start_s=0.5), weight_of_bent()
    torques = np.array([control.step(k * MS, np.array(BENT)).torque for k in range(700)])
    assert control.trip is None, control.trip.text
    assert np.all(np.abs(torques[0][heavy]) < 0.5 * np.abs(weight[heavy]))
    assert torques[-1][heavy] == pytest.approx(weight[heavy])


@pytest.mark.parametrize('way', ['it is held', 'it carries itself'])
def test_no_gravity_is_taken_from_a_robot_that_needs_none_or_has_it(way):
    carries = way == 'it carries itself'
    control, (weight, heavy) = held('tx40', soft_start_s=0.5, carried=carries), weight_of_bent()
    if not carries:
        control.supervisor.restart(held=True)
    torque = control.step(0, np.array(BENT)).torque
    assert torque[heavy] == pytest.approx(weight[heavy])


def weight_of_bent():
    """(6,) torques that hold it, and which of them are heavy."""
    robot = load_robot('tx40')
    weight = bias(robot, robot.truth(), np.array(BENT), np.zeros(6))
    return weight, np.abs(weight) > 0.02 * robot.limits.torque


@pytest.mark.parametrize('joint', [0, 1, 2])
@pytest.mark.parametrize('model', ['truth', 'a_priori'])
def test_a_reversed_sign_of_the_tx40_is_named_while_it_is_only_held(joint, model):
    seen = np.eye(6)
    seen[joint, joint] = -1.0
    run = SupervisedRun('tx40', BENT, seen=seen, model=model)
    assert run.control.mode is Mode.RELEASED
    assert run.trip.kind in (Kind.SIGN, Kind.START, Kind.GAIN)
    assert small(run), (np.degrees(run.angle), run.torque)
    assert run.stopped_after < 0.3
    # Of a model without gravity and friction, that falls, no more can be said.
    if model == 'truth':
        assert run.trip.joint == f'joint_{joint + 1}'
        assert 'reversed' in run.trip.mistake


@pytest.mark.parametrize('name', list(MOVES))
def test_a_reversed_sign_stops_every_robot_that_begins_to_move(name):
    start, move = MOVES[name]
    robot = load_robot(name)
    for j in range(min(robot.n, 3)):
        seen = np.eye(robot.n)
        seen[j, j] = -1.0
        run = SupervisedRun(name, start, move, seen=seen)
        assert run.control.mode is Mode.RELEASED, j
        assert small(run), (j, np.degrees(run.angle), run.torque)


def test_swapped_joints_and_a_carried_gravity_are_named():
    swapped = np.eye(6)[[0, 2, 1, 3, 4, 5]]
    run = SupervisedRun('tx40', BENT, MOVES['tx40'][1], seen=swapped)
    assert "'joint_2' and 'joint_3' are swapped" in run.trip.mistake
    assert small(run)
    run = SupervisedRun('tx40', BENT, carried=True)
    assert run.trip.kind is Kind.GRAVITY
    assert small(run)


def test_degrees_for_radians_are_refused_before_any_torque():
    run = SupervisedRun('tx40', BENT, seen=np.degrees(np.eye(6)))
    assert run.trip.kind is Kind.POSITION
    assert 'degrees' in run.trip.mistake
    assert run.stopped_after == 0.0
    assert not run.torque.any()


@pytest.mark.parametrize('name', ['emps', 'scara'])
def test_a_unit_of_a_thousandth_is_stopped(name):
    start, move = MOVES[name]
    seen = np.eye(load_robot(name).n)
    seen[0, 0] = 1e-3
    run = SupervisedRun(name, start, move, seen=seen)
    assert run.control.mode is Mode.RELEASED
    assert run.trip.kind in (Kind.GAIN, Kind.START, Kind.SIGN, Kind.TRACKING)


def held(name='scara', **options):
    robot = load_robot(name)
    law = ComputedTorque(robot, robot.truth())
    return TorqueControl(law, 0.02, 0.05, **options)


def test_every_mode_is_supervised_and_a_violation_stays_until_it_is_reset():
    control = held()
    for k in range(20):
        control.step(k * MS, np.array([0.1, 0.2]))
    assert control.mode is Mode.HOLDING
    for k in range(20, 24):
        control.step(k * MS, np.array([0.1 + 0.02 * (k - 19), 0.2]))
    assert control.trip.kind is Kind.VELOCITY
    assert control.trip.value > control.trip.bound == pytest.approx(SPEED_MARGIN * 6.0)
    # Held by a model that was trusted from the first sample; far from it again: zero torque.
    assert control.mode is Mode.STOPPED
    for k in range(24, 60):
        command = control.step(k * MS, np.array([0.9, 0.2]))
    assert control.mode is Mode.RELEASED
    assert not command.torque.any()
    control.pause()
    assert control.mode is Mode.RELEASED
    control.restart()
    assert control.trip is None


def test_a_torque_at_its_limit_is_allowed_for_a_bounded_time():
    control = held(saturation_s=0.05, largest_error=10.0)
    robot = control.controller.robot
    for k in range(200):
        command = control.step(k * MS, np.array([0.1 if k < 10 else 0.9, 0.2]))
        if control.stopped:
            break
    assert control.trip.kind in (Kind.SATURATION, Kind.TRACKING)
    assert k < 80
    assert not command.torque.any()
    assert control.trip.joint == robot.joint_names[0]


def test_a_single_wrong_position_is_no_violation():
    control = held()
    for k in range(40):
        control.step(k * MS, np.array([0.1 if k != 20 else 0.12, 0.2]))
    assert control.trip is None
    assert control.mode is Mode.HOLDING


def test_without_a_soft_start_and_a_violation_the_torques_are_those_of_the_law():
    control, robot = held(), load_robot('scara')
    law = ComputedTorque(robot, robot.truth())
    source = np.random.default_rng(5)
    q = np.array([0.1, 0.2])
    for k in range(50):
        at = q + source.normal(size=2) * 1e-5
        wanted = law.step(at, control.controller.inputs[0] if k else at, np.zeros(2), np.zeros(2))
        assert np.array_equal(control.step(k * MS, at).torque, wanted)


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_lost_samples_of_a_robot_that_moves_are_no_acceleration(seed):
    control, source = held(), np.random.default_rng(seed)
    way = Quintic([[-1.0, -1.0], [1.0, 2.0]], 0.9)
    k = 0
    while k < 900:
        point = np.array(way.sample(np.array([1e-3 * k])))[:, 0]
        control.references.put(k * MS, point)
        control.step(k * MS, point[0])
        assert control.trip is None, control.trip.text
        k += int(source.integers(1, 12))
    assert control.mode is Mode.FOLLOWING


def test_an_acceleration_of_twice_the_limit_is_stopped_before_the_speed_limit():
    control = held(largest_error=10.0)
    robot = control.controller.robot
    a = 2.5 * robot.limits.acceleration[0]
    for k in range(400):
        t = max(k - 20, 0) * 1e-3
        q = np.array([0.1 + 0.5 * a * t**2, 0.2])
        point = np.array([q, [a * t, 0.0], [a, 0.0]])
        control.references.put(k * MS, point)
        control.step(k * MS, q)
        if control.stopped:
            break
    assert control.trip.kind is Kind.ACCELERATION
    assert a * t < robot.limits.velocity[0]
