"""The time offset of the torques and the slope of the friction, found from the data."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import savgol_filter

from robot_id.data.dataset import Dataset, Run
from robot_id.dynamics import Disturbances, inverse_dynamics
from robot_id.methods import registry
from robot_id.regression.preprocessing.alignment import align
from robot_id.regression.preprocessing.torque_delay import TimeOffset
from robot_id.robot import load_robot
from robot_id.tasks.recording import record


@pytest.fixture(scope='module')
def recording(emps):
    return record(emps, seed=4)


def late(dataset, samples):
    """Return the data with torques that were recorded so many samples late."""
    runs = [
        replace(run, torque=np.concatenate([np.repeat(run.torque[:1], samples, 0), run.torque])[
            : len(run)
        ])
        for run in dataset.runs
    ]  # fmt: skip
    return replace(dataset, runs=tuple(runs))


def test_the_hold_of_the_sampled_loop_is_found_and_named(emps, recording):
    found = align(emps, recording, 'auto')
    assert found.offset.held
    assert 1e3 * found.offset.seconds == pytest.approx(-0.5, abs=0.06)
    processing, reasons = found.apply(emps_processing())
    assert processing.held_torque
    assert 'sampled controller' in reasons['held_torque']


@pytest.mark.parametrize('samples', [3, 10])
def test_a_delay_is_found_with_its_deviation_and_said_in_words(emps, recording, samples):
    found = align(emps, late(recording, samples), 'auto').offset
    # The hold makes half a sample less of it.
    assert 1e3 * found.seconds == pytest.approx(samples - 0.5, abs=0.3)
    assert found.significant
    assert 'lags' in found.describe()
    assert 'samples' in found.describe()


def test_a_joint_that_is_late_alone_gets_an_offset_of_its_own():
    scara = load_robot('scara')
    data = record(scara, seed=1)
    assert not align(scara, data, 'auto').offset.differ
    run, torque = data.runs[0], data.runs[0].torque.copy()
    torque[3:, 1] = run.torque[:-3, 1]
    mixed = replace(data, runs=(replace(run, torque=torque),))
    found = align(scara, mixed, 'auto').offset
    assert found.differ
    # Half a sample of the hold less; noise that the loop feeds back moves it by up to 0.25.
    for name, samples in (('shoulder', -0.5), ('elbow', 2.5)):
        value, deviation = found.joints[name]
        assert value / found.step == pytest.approx(samples, abs=0.25)
        assert 0.0 < deviation < 0.1 * found.step
        assert name in found.describe()
    result = registry.create('idim_wls', {}).estimate(scara, mixed)
    assert len(result.options['torque_delay_s']) == 2
    straight = registry.create('idim_wls', {}).estimate(scara, data)
    assert result.relative_error_percent < 1.1 * straight.relative_error_percent


def test_an_uncertain_rest_as_long_as_the_delay_denies_it():
    """A joint of an arm whose joints moved one at a time: it came out 40 ms early."""
    first = TimeOffset(1e-4, 6e-5, 0.005, 0.01, {'a': (1e-4, 6e-5), 'b': (-0.021, 0.002)})
    rest = replace(first, joints={'a': (0.0, 6e-5), 'b': (-0.0186, 0.0117)})
    assert first.differ
    assert not first.plus(rest).differ
    gone = replace(first, joints={'a': (0.0, 6e-5), 'b': (-0.002, 0.002)})
    assert first.plus(gone).of_joints()[1] == pytest.approx(-0.023)


def test_friction_that_turns_early_is_no_inertia_that_is_late():
    """A wrist: with a delay of its own, -24 ms, the inertia of its rotor would be negative."""
    robot = load_robot('tx40')
    names, j = robot.base.names, 4
    rng = np.random.default_rng(0)
    t, w = np.arange(0.0, 12.0, 0.004), 2 * np.pi * np.array([0.13, 0.31, 0.52])
    a, b = rng.normal(0.0, 0.4, (2, robot.n, 3))

    def velocity(t):
        c, s = np.cos(np.outer(t, w)), np.sin(np.outer(t, w))
        return (c * w) @ b.T - (s * w) @ a.T

    c, s = np.cos(np.outer(t, w)), np.sin(np.outer(t, w))
    q, ddq = c @ a.T + s @ b.T, -(c * w**2) @ a.T - (s * w**2) @ b.T
    chi = robot.truth().copy()
    chi[[names.index('Fv5'), names.index('Fc5')]] = 20.0, 0.0
    tau = inverse_dynamics(robot, chi, q, velocity(t), ddq)
    tau[:, j] += 60.0 * 2 / np.pi * np.arctan(1000.0 * velocity(t + 0.03)[:, j])
    tau += 0.003 * rng.normal(size=tau.shape) * tau.std(axis=0)
    data = Dataset(robot.joint_names, (Run(t, np.round(q / 2e-5) * 2e-5, tau),))
    offset = align(robot, data, 'auto').offset
    assert not offset.differ
    assert abs(offset.seconds) < 5e-4


def test_the_friction_of_the_plant_is_found(emps, recording):
    found = align(emps, recording, 'auto')
    assert found.slope == emps.description.coulomb_slope
    steep = emps.description.model_copy(update={'coulomb_slope': 1e5})
    plant = type(emps)(steep, emps.kinematics, emps.urdf)
    other = record(plant, disturbances=Disturbances())
    assert align(emps, other, 'auto').slope != emps.description.coulomb_slope


def test_a_given_slope_is_kept(emps, recording):
    assert align(emps, recording, None).slope is None
    assert align(emps, recording, 77.0).slope == 77.0


def emps_processing():
    from robot_id.data.signals.processing import Processing

    return Processing()


@pytest.mark.parametrize('seed', [0, 1, 4, 22])
def test_noise_does_not_choose_the_friction(seed):
    # These hide the slope best: sign(dq) leaves a residual that is 2 % larger only.
    scara = load_robot('scara')
    assert align(scara, record(scara, seed=seed), 'auto').slope == 1000.0


def turning_early(dataset, robot, seconds):
    """Return the data with a Coulomb friction that changes sign before the velocity does."""
    run = dataset.runs[0]
    size = dict(zip(robot.base.names, robot.truth()))
    friction = np.array([size[f'Fc{j + 1}'] for j in range(robot.n)])
    samples = round(seconds / run.step)
    direction = np.sign(savgol_filter(run.position, 41, 3, deriv=1, axis=0))
    early = np.concatenate([direction[samples:], np.repeat(direction[-1:], samples, 0)])
    torque = run.torque + friction * (early - direction)
    return replace(dataset, runs=(replace(run, torque=torque),))


@pytest.mark.parametrize('seconds', [0.01, 0.02])
def test_friction_that_turns_early_is_no_torque_that_is_recorded_early(seconds):
    scara = load_robot('scara')
    data = turning_early(record(scara, seed=1), scara, seconds)
    found = align(scara, data, None).offset
    # What is left is the hold of the loop, half a sample.
    assert not found.differ
    assert found.held
