"""A load on the last link is noticed from the running windows, and nothing else is."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id.control.runtime.payload_watch import PayloadWatch
from robot_id.dynamics import Disturbances
from robot_id.robot import Loop, Payload, load_robot, payload_parameters
from robot_id.tasks import run_ilic
from robot_id.trajectory import SampledMotion
from robot_id.trajectory.default import motion_of
from robot_id.trajectory.random import random_trajectory

CYCLE_S = 8.0
PENDULUM = """
name: pendulum
mdh:
  - {alpha: pi/2}
joints:
  - name: swing
    limits: {position: [-3, 3], velocity: 3, acceleration: 20, torque: 50}
gravity: [0, 0, -9.81]
loops:
  learning: {law: computed_torque, bandwidth: [40], damping: [1], rate_hz: 500}
truth: {ZZ1: 0.3, MX1: 0.8, Fv1: 0.5, Fc1: 0.4}
a_priori: {ZZ1: 0.2}
"""


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return an arm of example-robot-data: a URDF, rubbing joints, no loop of its own."""
    arms = pytest.importorskip('plants.mujoco_arms')
    if arms.robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    return load_robot(arms.chain_urdf('ur5', tmp_path_factory.mktemp('arm') / 'ur5.urdf'))


def learn(robot, seed, *, load=None, at=4, cycles=7, window=1.0, **options):
    """Learn with the model of the controller's default; from cycle `at` on with a load."""
    truth = robot.base.from_standard(robot.standard_prior())
    noise = Disturbances(torque_std=np.full(robot.n, 0.1), seed=seed)
    if robot.description.truth:
        truth, noise = robot.truth(), Disturbances.of_robot(robot, seed)
    else:
        rubs = [name.startswith(('Fv', 'Fc')) for name in robot.base.names]
        truth = np.where(rubs, 1.0, truth)
        loop = Loop(
            law='computed_torque', bandwidth=(40.0,) * robot.n, damping=(1.0,) * robot.n,
            rate_hz=500.0,
        )  # fmt: skip
        options = {'loop': loop, 'start': 0.5 * truth, **options}
    if load is not None:
        heavier = truth + payload_parameters(robot, load)
        noise = replace(noise, changes=((at * CYCLE_S, heavier),))
    return run_ilic(
        robot, truth, random_trajectory(robot.limits, CYCLE_S, seed), cycles, disturbances=noise,
        ilic_options={'physical': True, 'window_s': window * CYCLE_S}, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    ('name', 'mass', 'centre'),
    [
        ('emps', 5.0, (0.0, 0.0, 0.0)),
        ('scara', 0.3, (0.1, 0.0, 0.0)),
        ('tx40', 2.0, (0.0, 0.02, 0.05)),
        ('arm', 1.0, (0.03, 0.0, 0.05)),
    ],
)
def test_a_load_is_noticed_and_weighed_by_the_first_whole_window(name, mass, centre, request):
    robot = request.getfixturevalue(name)
    seen = learn(robot, 1, load=Payload(mass, centre)).updates
    before, after = seen[:4], seen[4:]
    assert before[-1].payload is not None
    assert not any(u.payload.significant for u in before if u.payload)
    for update in after:
        assert update.payload.significant
        assert update.payload.mass == pytest.approx(mass, rel=0.1)
        assert update.payload.differs_from(np.zeros(10))
    # It is the one that was put there.
    assert not after[-1].payload.differs_from(Payload(mass, centre).parameters())


@pytest.mark.parametrize(('name', 'seeds'), [('emps', 4), ('scara', 3), ('tx40', 2), ('arm', 1)])
def test_no_load_no_notice(name, seeds, request):
    """Every window has another motion, the first ones a model that is far off."""
    robot = request.getfixturevalue(name)
    judged = [
        update.payload
        for seed in range(seeds)
        for update in learn(robot, seed, window=0.37).updates
        if update.payload is not None
    ]
    assert len(judged) > 10 * seeds
    assert not any(payload.significant for payload in judged)


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40', 'arm'])
def test_a_better_model_is_no_load(name, request):
    """Windows of a model that is far off are the tare, then the controller gets a good one."""
    robot = request.getfixturevalue(name)
    watch, still = PayloadWatch(robot), np.zeros(robot.n, bool)

    def see(run):
        factors = run.ilic._observation.factors(run.ilic.take())
        return watch.see(factors, still, run.cycles[-1].parameters)

    for cycles in range(1, 5):
        see(learn(robot, 1, cycles=cycles, learn=False))
    payload = see(learn(robot, 1, cycles=3))
    assert payload is not None
    assert not payload.significant


def test_a_load_whose_mass_the_motion_does_not_tell_is_noticed(tmp_path):
    """On one hinge a mass is only known by its moments."""
    path = tmp_path / 'pendulum.yaml'
    path.write_text(PENDULUM)
    robot = load_robot(path)
    updates = learn(robot, 1, load=Payload(1.0, (0.2, 0.1, 0.0))).updates
    assert not any(u.payload.significant for u in updates[:4] if u.payload)
    found = updates[-1].payload
    assert found.mass is None
    assert found.significant
    assert str(found) == 'payload: present, but this motion does not determine its mass'
    changes = {name: change for name, change, _ in found.changes}
    assert changes == pytest.approx({'ZZ1R': 0.05, 'MX1': 0.2, 'MY1': 0.1}, rel=0.1)


def test_the_tare_stands_still_under_a_load_and_can_be_set(emps):
    run = learn(emps, 2, load=Payload(5.0), at=3, cycles=9)
    assert run.updates[-1].payload.significant
    watch = run.ilic.payload_watch
    watch.tare()
    window = run.ilic.take()
    factors = run.ilic._observation.factors(window)
    assert not watch.see(factors, np.zeros(1, bool), run.ilic.parameters).significant


def test_a_window_of_few_equations_tells_nothing(emps):
    run = learn(emps, 3, cycles=3)
    factors = run.ilic._observation.factors(run.ilic.take())
    poor = replace(factors, rows=np.array([7]))
    watch, model = run.ilic.payload_watch, run.ilic.parameters
    assert watch.see(poor, np.zeros(1, bool), model) is None
    assert watch.see(factors, np.zeros(1, bool), model) is not None


def test_windows_that_hold_some_of_a_load_do_not_hide_it():
    """At rest a load is attached; some windows after it are too poor to show it, others not."""
    robot = load_robot('emps')
    motion, step, rest_s = motion_of(robot), 1e-3, 6.5625
    cycle = np.array([motion.sample(t) for t in np.arange(0.0, motion.duration, step)])[:, :, 0]
    still = np.tile([cycle[0, 0], 0.0, 0.0], (round(rest_s / step), 1))
    played = np.concatenate([cycle, cycle, still, cycle, cycle, cycle]).T[:, :, None]
    time = step * np.arange(played.shape[1])
    heavier = robot.truth() + payload_parameters(robot, Payload(10.0))
    attached = 2.0 * motion.duration + rest_s - 1.0
    noise = replace(Disturbances.of_robot(robot, 6), changes=((attached, heavier),))
    seen = run_ilic(
        robot, robot.truth(), SampledMotion(time, *played), 1, disturbances=noise,
        ilic_options={'physical': True, 'window_s': 1.5},
    ).updates  # fmt: skip
    told = [update.payload.significant for update in seen if update.payload]
    # Half of the windows with a load, to the end; with those in the tare, none of the last four.
    assert sum(told[-13:]) > 6
    assert any(told[-4:])
