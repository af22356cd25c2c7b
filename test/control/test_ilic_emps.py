"""What paper 003 shows on one axis, in simulation: tables I and II, payload, lost excitation."""

import numpy as np
import pytest

from robot_id.dynamics import Disturbances
from robot_id.tasks import run_ilic
from robot_id.trajectory import cycle, emps_cycle

TRUTH = np.array([95.0, 200.0, 20.0])


@pytest.fixture(scope='module')
def learning(emps):
    """Section VI-E: start 100, 0, 0."""
    np.testing.assert_array_equal(emps.truth(), [*TRUTH, 0.0])
    np.testing.assert_array_equal(emps.a_priori(), [100.0, 0.0, 0.0, 0.0])
    return run_ilic(emps, emps.truth(), emps_cycle(), 4)


def test_table_1(learning):
    first = learning.updates[0].fit.values[:3]
    np.testing.assert_allclose(first, [94.4, 199.0, 20.1], rtol=0.015)
    for update in learning.updates[1:]:
        assert update.accepted
        np.testing.assert_allclose(update.fit.values[:3], TRUTH, rtol=0.006)


def test_table_1_percent_deviations_and_the_parameter_that_is_not_there(learning):
    """The offset is zero in truth: its deviation is beyond sigma_max, so it is not passed on."""
    for update in learning.updates:
        assert np.all(update.fit.percent[:3] < 1.5)
        assert update.fit.percent[3] > 15.0
        np.testing.assert_array_equal(update.fit.passed, [True, True, True, False])
        assert update.parameters[3] == 0.0


def test_table_2_tracking_falls_five_times(learning):
    errors = learning.tracking_errors[:, 0]
    assert 5e-4 < errors[0] < 9.5e-4
    assert np.all(errors[1:] < errors[0] / 5)
    assert np.all(errors[1:] < 1.1e-4)


@pytest.mark.parametrize('seed', [0, 1])
def test_with_noise_and_encoder_steps_as_on_the_machine(emps, seed):
    noise = Disturbances(
        encoder_step=np.array([5e-8]), position_std=np.array([5e-8]), torque_std=np.array([1.0]),
        seed=seed,
    )  # fmt: skip
    run = run_ilic(emps, emps.truth(), emps_cycle(), 4, disturbances=noise)
    np.testing.assert_allclose(run.updates[0].fit.values[:3], [94.4, 199.0, 20.1], rtol=0.015)
    np.testing.assert_allclose(run.updates[-1].fit.values[:3], TRUTH, rtol=0.01)
    assert np.all(run.tracking_errors[1:, 0] < run.tracking_errors[0, 0] / 5)


def test_bias_falls_with_the_rate_of_the_controller(emps):
    """Eq. 27: the bias comes from the backward difference, so it falls as 1/rate."""
    bias = []
    for rate in (1000.0, 5000.0):
        loop = emps.loop('learning').model_copy(update={'rate_hz': rate})
        run = run_ilic(emps, emps.truth(), emps_cycle(), 3, loop=loop)
        bias.append(np.abs(run.updates[-1].fit.values[:3] / TRUTH - 1.0))
    assert np.all(bias[1] < bias[0] / 2.5)
    assert np.all(bias[1] < 1.5e-3)


@pytest.mark.parametrize('noisy', [False, True])
def test_payload_at_60_s(emps, noisy):
    loaded = emps.truth() + [10.0, 0, 0, 0]
    noise = Disturbances.of_robot(emps) if noisy else Disturbances()
    changed = Disturbances(
        noise.encoder_step, noise.position_std, noise.torque_std, changes=((60.0, loaded),)
    )
    run = run_ilic(emps, emps.truth(), emps_cycle(), 13, disturbances=changed)
    before = [u for u in run.updates if u.time <= 60.0]
    assert not any(u.payload.significant for u in before if u.payload)
    # The window that ends at 62 s has seen the payload for 2 s; two whole windows follow.
    second = run.updates[11]
    assert second.time == pytest.approx(74.4)
    assert second.payload.mass == pytest.approx(10.0, rel=0.05)
    assert abs(second.payload.mass - 10.0) < 3 * second.payload.deviation
    assert second.payload.significant
    assert second.fit.values[0] == pytest.approx(105.0, rel=0.006)
    assert run.tracking_errors[12, 0] < 1.05 * run.tracking_errors[8, 0]


def test_a_payload_that_is_taken_off_is_gone(emps):
    loaded = emps.truth() + [10.0, 0, 0, 0]
    changes = ((31.0, loaded), (62.0, emps.truth()))
    run = run_ilic(
        emps, emps.truth(), emps_cycle(), 13, disturbances=Disturbances(changes=changes)
    )
    assert run.updates[9].payload.mass == pytest.approx(10.0, rel=0.05)
    assert not run.updates[12].payload.significant
    assert abs(run.updates[12].payload.mass) < 0.3


def test_at_rest_for_ten_minutes_nothing_moves(emps):
    """Three cycles of motion, then rest with noise: every window is refused, the axis stays."""
    motion = cycle(emps_cycle(), 3)
    run = run_ilic(
        emps, emps.truth(), motion, 34, ilic_options={'window_s': 6.2}, keep=True,
        disturbances=Disturbances.of_robot(emps),
    )  # fmt: skip
    learned, resting = run.updates[:3], run.updates[3:]
    assert all(u.accepted for u in learned)
    assert len(resting) * 6.2 > 600.0
    for update in resting:
        assert update.reason == 'the window is not exciting: no joint moves'
        np.testing.assert_array_equal(update.parameters, learned[-1].parameters)
    np.testing.assert_array_equal(run.controller.parameters, learned[-1].parameters)
    last = run.cycles[-1].simulation
    assert abs(last.position - last.reference.position).max() < 1e-6
    # An encoder between two of its steps dithers: well below one step a sample.
    step = emps.description.noise.encoder_step[0] * emps.loop('learning').rate_hz
    assert abs(last.velocity).max() < 0.25 * step


@pytest.mark.parametrize('mass', [25.0, 47.5, 190.0])
def test_wrong_starts_converge(emps, mass):
    run = run_ilic(emps, emps.truth(), emps_cycle(), 4, start=[mass, 0, 0, 0])
    np.testing.assert_allclose(run.updates[-1].fit.values[:3], TRUTH, rtol=0.006)
    assert run.tracking_errors[-1, 0] < 1e-4


def test_a_hopeless_start_is_refused_safely(emps):
    """M ten times too large: the noisy torque stands at its limits, nothing is learned from it."""
    run = run_ilic(emps, emps.truth(), emps_cycle(), 3, start=[1000.0, 0, 0, 0])
    for update in run.updates:
        assert not update.accepted
        assert "joint 'carriage' was at its limit" in update.reason
        np.testing.assert_array_equal(update.parameters, [1000.0, 0, 0, 0])


def test_measured_state_variant_learns_too(emps):
    run = run_ilic(emps, emps.truth(), emps_cycle(), 3, controller_options={'measured': True})
    np.testing.assert_allclose(run.updates[-1].fit.values[:3], TRUTH, rtol=0.01)
    assert run.tracking_errors[-1, 0] < run.tracking_errors[0, 0] / 4
