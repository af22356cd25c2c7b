"""Several joints, what paper 003 leaves as future work: SCARA and TX40."""

import numpy as np
import pytest

from robot_id.dynamics import Disturbances
from robot_id.robot import Payload, payload_parameters
from robot_id.tasks import run_ilic


@pytest.mark.parametrize('seed', [0, 1])
def test_scara_learns_from_rotor_inertias(scara, fourier_cycle, seed):
    run = run_ilic(
        scara, scara.truth(), fourier_cycle(scara, 6.0, seed), 4,
        disturbances=Disturbances.of_robot(scara, seed),
    )  # fmt: skip
    assert all(update.accepted for update in run.updates)
    assert np.all(run.tracking_errors[2:] < run.tracking_errors[0] / 5)


def test_scara_without_noise_finds_the_truth(scara, fourier_cycle):
    run = run_ilic(scara, scara.truth(), fourier_cycle(scara, 6.0), 4)
    fit, truth = run.updates[-1].fit, scara.truth()
    strong = [scara.base.index(name) for name in ('ZZ1R', 'ZZ2R', 'LMX2', 'Fc2')]
    assert fit.passed[strong].all()
    np.testing.assert_allclose(fit.values[strong], truth[strong], rtol=0.01)
    assert np.all(run.tracking_errors[2:] < run.tracking_errors[0] / 5)


@pytest.mark.parametrize('factor', [0.5, 2.0])
def test_scara_learns_from_wrong_inertias(scara, fourier_cycle, factor):
    trajectory = fourier_cycle(scara, 6.0)
    start = factor * scara.a_priori()
    runs = [run_ilic(scara, scara.truth(), trajectory, 4, start=x) for x in (None, start)]
    np.testing.assert_allclose(*(run.updates[-1].parameters for run in runs), rtol=2e-3)


def test_tx40_learns_from_rotor_inertias(tx40, fourier_cycle):
    """60 parameters, a priori only six rotors: no gravity, no friction, a quarter of M."""
    start = tx40.a_priori()
    assert np.count_nonzero(start) == 6
    run = run_ilic(
        tx40, tx40.truth(), fourier_cycle(tx40, 6.0, 1), 4,
        disturbances=Disturbances.of_robot(tx40),
    )  # fmt: skip
    assert all(update.accepted for update in run.updates)
    assert np.all(run.tracking_errors[1] < run.tracking_errors[0] / 5)
    assert np.all(run.tracking_errors[3] < run.tracking_errors[0] / 50)
    assert np.all(run.updates[-1].fit.relative_error < 1.0)
    assert np.all(run.updates[-1].fit.percent[run.updates[-1].fit.passed] <= 15.0)


def test_scara_payload_in_the_hand(scara, fourier_cycle):
    """0.3 kg on link 2, 0.2 m from its joint."""
    trajectory = fourier_cycle(scara, 6.0)
    loaded = scara.truth() + payload_parameters(scara, Payload(0.3, (0.2, 0.0, 0.0)))
    run = run_ilic(
        scara, scara.truth(), trajectory, 9, disturbances=Disturbances(changes=((30.0, loaded),))
    )
    assert run.updates[-1].payload.significant
    assert run.updates[-1].payload.mass == pytest.approx(0.3, rel=0.1)


def test_one_joint_still_for_ten_minutes(scara, fourier_cycle):
    """Nothing that only the resting elbow could tell moves; the loop stays stable."""
    trajectory = fourier_cycle(scara, 6.0, still=[1])
    loop = scara.loop('learning').model_copy(update={'rate_hz': 500.0})
    run = run_ilic(
        scara, scara.truth(), trajectory, 100, start=scara.truth(), loop=loop, keep=True,
        disturbances=Disturbances.of_robot(scara),
    )  # fmt: skip
    assert run.updates[-1].time >= 600.0
    shoulder = {scara.base.index(name) for name in ('Fv1', 'Fc1')}
    others = [i for i in range(8) if i not in shoulder]
    for update in run.updates:
        assert update.still == ('elbow',)
        np.testing.assert_array_equal(update.parameters[others], scara.truth()[others])
    assert run.tracking_errors[-1, 0] < 1.1 * run.tracking_errors[0, 0]
    errors = [
        abs(c.simulation.position - c.simulation.reference.position).max() for c in run.cycles
    ]
    assert max(errors[50:]) < 1.1 * max(errors[:5])


def test_tx40_at_rest_learns_nothing_from_gravity(tx40, fourier_cycle):
    trajectory = fourier_cycle(tx40, 6.0, still=range(6))
    run = run_ilic(tx40, tx40.truth(), trajectory, 2, disturbances=Disturbances.of_robot(tx40))
    for update in run.updates:
        assert update.reason == 'the window is not exciting: no joint moves'
    np.testing.assert_array_equal(run.controller.parameters, tx40.a_priori())
