"""Derivatives, held torques and reversals: what must not bias an estimate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from robot_id.data import Processing, Run
from robot_id.data.signals.decimation import decimate
from robot_id.data.signals.derivatives import central_differences
from robot_id.data.signals.torque_delay import torque_at_samples
from robot_id.dynamics import Disturbances
from robot_id.methods import registry
from robot_id.regression.rows import reversals
from robot_id.regression.rows.reversals import response_bases, reversal_times, without
from robot_id.robot import load_robot
from robot_id.tasks.recording import record


def test_differences_are_exact_for_polynomials_of_degree_six():
    t = np.linspace(-1.0, 1.0, 41)
    p = np.polynomial.Polynomial([0.3, -1.0, 0.7, 2.0, -0.4, 0.9, 1.1])
    dq, ddq = central_differences(p(t)[:, None], t[1] - t[0], smooth=True)
    np.testing.assert_allclose(dq[3:-3, 0], p.deriv()(t)[3:-3], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ddq[3:-3, 0], p.deriv(2)(t)[3:-3], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize('hz', [1.0, 5.0, 10.0])
def test_a_held_command_gets_the_gain_of_its_hold(hz):
    # A command u_k held for h acts as u(t - h/2) sinc(w h / 2) in the band of the motion.
    h = 0.005
    t, w = h * np.arange(400), 2.0 * np.pi * hz
    run = Run(t, np.zeros((400, 1)), np.sin(w * t)[:, None])
    found = torque_at_samples(run, Processing(held_torque=True), 10, 390)[:, 0]
    wanted = np.sinc(w * h / 2 / np.pi) * np.sin(w * (t[10:390] - h / 2))
    assert np.abs(found - wanted).max() < 0.05 * (w * h) ** 4


def test_an_impulse_at_a_reversal_leaves_nothing_in_the_rows():
    factor, step, at = 10, 0.005, 733
    samples = np.zeros((2000, 1))
    samples[at] = 5.0
    rows = decimate(samples, factor)
    time = factor * step * np.arange(len(rows))
    # Its time is known to a sample only: the slope of the response takes what that leaves.
    for late, small in ((0.0, 1e-3), (0.5, 5e-3)):
        times = np.array([(at + late) * step])
        freed, count = without(
            rows, response_bases(time, times, Processing(decimation=factor), step)
        )
        assert count == 2
        assert np.abs(freed).max() < small * np.abs(rows).max()
    bare = response_bases(time, times, Processing(decimation=factor), step, slopes=False)
    assert np.abs(without(rows, bare)[0]).max() > 0.02 * np.abs(rows).max()


def test_noise_above_the_band_of_the_rows_does_not_choose_the_moments():
    t = 0.005 * np.arange(4000)
    slow = np.sin(2 * np.pi * 0.7 * t)[:, None]
    # 30 Hz, within the position filter: its velocity turns the joint ten times at each reversal.
    fast = 1e-4 * np.sin(2 * np.pi * 30.0 * t)[:, None]
    processing = Processing(cutoff_hz=40.0, decimation=10, border=21)
    found = [
        reversal_times(Run(t, q, np.zeros_like(q)), processing, 1000.0)[0]
        for q in (slow, slow + fast)
    ]
    assert len(found[0]) == 28
    assert len(found[0]) == len(found[1])
    np.testing.assert_allclose(*found, atol=0.005)


def test_where_responses_and_slopes_take_too_many_rows_the_slopes_are_left_out():
    factor, step = 10, 0.005
    time = factor * step * np.arange(100)
    times = np.linspace(0.3, 4.7, 20)
    bases = response_bases(time, times, Processing(decimation=factor), step)
    assert sum(Q.shape[1] for _, Q in bases) == 20


def test_a_long_run_is_freed_in_pieces_and_stays_the_same(monkeypatch):
    # All at once its cost grows with the cube of its length: an hour would take hundreds of GB.
    factor, step, rng = 20, 0.001, np.random.default_rng(3)
    time = factor * step * np.arange(3 * reversals.LONGEST_PIECE)
    times = np.cumsum(rng.uniform(0.4, 1.6, 150))
    rows = rng.normal(size=(len(time), 4))
    form = Processing(decimation=factor), step
    bases = response_bases(time, times, *form)
    pieces = [piece for piece, _ in bases]
    assert len(pieces) == 3
    assert pieces[0].start == 0
    assert pieces[-1].stop == len(time)
    assert all(a.stop == b.start for a, b in pairwise(pieces))
    for cut in (piece.stop for piece in pieces[:-1]):
        assert np.abs(times - time[cut]).min() > 10 * factor * step
    freed, count = without(rows, bases)
    monkeypatch.setattr(reversals, 'LONGEST_PIECE', len(time))
    (whole,) = response_bases(time, times, *form)
    wanted, expected = without(rows, [whole])
    assert count == expected
    assert np.abs(freed - wanted).max() < 1e-3
    assert np.abs(freed - rows).max() > 0.5


def test_friction_that_turns_at_once_does_not_bias_the_inertias():
    # No noise at all: what is left is what filters, samples and friction near rest do.
    robot = load_robot('scara')
    data = record(robot, disturbances=Disturbances())
    errors = {}
    for choice in ('project_out', 'keep'):
        result = registry.create('idim_wls', {'reversals': choice}).estimate(robot, data)
        errors[choice] = np.abs(result.values / robot.truth() - 1.0)
    inertias = [robot.base.names.index(name) for name in ('ZZ1R', 'ZZ2R', 'LMX2')]
    assert errors['project_out'][inertias].max() < 3e-5
    assert np.all(errors['project_out'][inertias] < 0.2 * errors['keep'][inertias])
    frictions = [robot.base.names.index(name) for name in ('Fv2', 'Fc2')]
    assert errors['project_out'][frictions].max() < 1e-4
