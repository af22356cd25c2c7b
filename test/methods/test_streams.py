"""Causal filters, differences, rest detection and the energy model: same numbers in any chunks."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import signal

from robot_id import dynamics
from robot_id.exceptions import OptionError
from robot_id.methods.recursive.energy import EnergyModel
from robot_id.methods.recursive.filters import CausalFilter, Differences
from robot_id.methods.recursive.identifier import RestDetector
from robot_id.methods.recursive.sizes import nominal_sizes
from robot_id.methods.recursive.status import recent_error
from robot_id.robot import load_robot


def chunks(N, rng):
    edges = np.unique(np.concatenate([[0, N], rng.integers(0, N, 12)]))
    return [slice(a, b) for a, b in pairwise(edges)]


@pytest.mark.parametrize('order', [1, 2, 3, 4])
def test_filter_is_scipys_and_does_not_see_chunks(order):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2, 3)) + 5.0
    whole = CausalFilter(20.0, 1000.0, order)(x)
    pieces = CausalFilter(20.0, 1000.0, order)
    parts = np.concatenate([pieces(x[rows]) for rows in chunks(300, rng)])
    assert np.array_equal(whole, parts)
    sos = signal.butter(order, 20.0, fs=1000.0, output='sos')
    start = signal.sosfilt_zi(sos)[:, :, None, None] * x[0]
    reference, _ = signal.sosfilt(sos, x, axis=0, zi=np.moveaxis(start, 1, 1))
    assert np.allclose(whole, reference, atol=1e-12)


def test_filter_starts_in_steady_state_and_settles():
    low_pass = CausalFilter(10.0, 1000.0)
    assert np.allclose(low_pass(np.full((50, 1), 3.0)), 3.0)
    after = low_pass(np.full((round(low_pass.settling_s * 1000), 1), 4.0))
    assert abs(after[-1, 0] - 4.0) < 0.02
    low_pass.reset()
    assert low_pass(np.array([[7.0]]))[0, 0] == pytest.approx(7.0)
    with pytest.raises(OptionError, match='half the rate'):
        CausalFilter(500.0, 1000.0)
    with pytest.raises(OptionError, match='order'):
        CausalFilter(5.0, 1000.0, 0)


def test_differences_are_exact_on_parabolas_in_any_chunks():
    rng = np.random.default_rng(1)
    t = np.arange(100)[:, None] * 0.01
    x = np.hstack([1 + 2 * t - 3 * t**2, 5 * t])
    differences = Differences(0.01)
    parts = [differences(x[rows]) for rows in chunks(100, rng)]
    q, dq, ddq = (np.concatenate(column) for column in zip(*parts))
    assert np.array_equal(q, x[1:-1])
    assert np.allclose(dq, np.hstack([2 - 6 * t, 5 + 0 * t])[1:-1])
    assert np.allclose(ddq, np.hstack([-6 + 0 * t, 0 * t])[1:-1], atol=1e-8)


def test_rest_is_found_and_turning_round_is_not_rest():
    rate = 1000.0
    t = np.arange(3000) / rate
    moving = np.where(t < 2, 0.5 * np.sin(5 * t), 0.5 * np.sin(10.0))
    noisy = moving + 1e-5 * np.random.default_rng(0).standard_normal(t.size)
    detector = RestDetector(np.array([0.05, 0.0]), rate, settling_s=0.05)
    flags = detector(np.column_stack([noisy, np.zeros_like(t)]))
    assert not flags[:2000, 0].any()
    assert flags[2100:, 0].all()
    assert not flags[:, 1].any()  # switched off for the second joint
    back = detector(np.column_stack([noisy[-1] + 2.0 * t[:200], np.zeros(200)]))
    assert back[:20, 0].all()
    assert not back[120:, 0].any()


@pytest.mark.parametrize('name', ['scara', 'tx40', 'emps'])
def test_energy_rows_are_the_work_of_the_drives(name):
    """Along any smooth motion int tau'dq dt = row chi, with tau from the inverse model."""
    robot = load_robot(name)
    rng = np.random.default_rng(2)
    step = 2e-4
    t = np.arange(0, 1.0, step)[:, None]
    a, w, p = (
        rng.uniform(0.2, 0.5, robot.n),
        rng.uniform(3, 9, robot.n),
        rng.uniform(0, 6, robot.n),
    )
    q, dq = a * np.sin(w * t + p), a * w * np.cos(w * t + p)
    ddq = -a * w**2 * np.sin(w * t + p)
    tau = dynamics.inverse_dynamics(robot, robot.truth(), q, dq, ddq, 50.0)
    rows, work = EnergyModel(robot, step, 50.0)(q, dq, tau)
    assert rows.shape == (t.size, 1, len(robot.base))
    size = np.abs(work).max()
    assert np.allclose(rows[:, 0] @ robot.truth(), work[:, 0], atol=1e-5 * size)
    pieces = EnergyModel(robot, step, 50.0)
    parts = [pieces(q[r], dq[r], tau[r]) for r in chunks(t.size, rng)]
    assert np.allclose(np.concatenate([p[0] for p in parts]), rows, atol=1e-9 * np.abs(rows).max())
    assert np.allclose(np.concatenate([p[1] for p in parts]), work, atol=1e-9 * size)


def test_sizes_of_parameters():
    names = ('ZZ1R', 'XX2', 'Fv1', 'Fv2', 'Off1')
    sizes = nominal_sizes(names, [2.0, 0.0, -0.3, 1e-6, 0.0])
    assert np.allclose(sizes, [2.0, 0.2, 0.3, 0.03, 0.03])
    with pytest.raises(OptionError, match='all zero'):
        nominal_sizes(names, np.zeros(5))


def test_the_error_of_a_single_sample_is_not_known():
    robot = load_robot('emps')
    one = np.zeros((1, robot.n))
    assert np.isnan(recent_error(robot, 100.0, robot.truth(), one, one))
