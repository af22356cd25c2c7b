"""The shipped mappings on the real measurements, against figures printed by others."""

import numpy as np
import yaml

from robot_id import data
from robot_id.data import Processing, decimate, differentiate, resolve
from robot_id.data.signals.processing import dropped, usable


def test_emps_with_the_authors_processing(shared):
    dataset = data.load(shared / 'data/emps/DATA_EMPS.mat', 'emps_benchmark')
    figures = yaml.safe_load((shared / 'reference/emps_benchmark.yaml').read_text())['idim_ls']
    run = dataset.runs[0]
    assert len(run) == 24841
    assert run.reference_position is not None
    options = resolve(Processing(cutoff_hz=100, decimation=10, border=49), run.rate)
    first, last = usable(run, options)
    q, dq, ddq = (values[first:last] for values in differentiate(run, options))
    W = decimate(np.hstack([ddq, dq, np.sign(dq), np.ones_like(q)]), options.decimation)
    Y = decimate(run.torque[first:last, 0], options.decimation)
    chi = np.linalg.lstsq(W, Y, rcond=None)[0]
    expected = [figures[name][0] for name in ('M', 'Fv', 'Fc', 'offset')]
    assert np.all(np.abs(chi / expected - 1) < [0.005, 0.005, 0.005, 0.01])
    assert 100 * np.linalg.norm(Y - W @ chi) / np.linalg.norm(Y) < 4.15
    assert abs(np.linalg.cond(W) - figures['condition_number']) < 0.05


def test_tx40_on_the_joint_side(shared):
    dataset = data.load(shared / 'data/tx40', 'tx40_csv')
    assert len(dataset) == 45_000
    assert dataset.rate == 5000.0
    assert dataset.notes == ()
    run = dataset.runs[0]
    raw = np.loadtxt(shared / 'data/tx40/motor_position.csv.gz', delimiter=',', skiprows=1)
    assert np.allclose(32 * (run.position[:, 5] + run.position[:, 4]), raw[:, 5])
    assert np.allclose(-48 * run.position[:, 3], raw[:, 3])
    tau = np.loadtxt(shared / 'data/tx40/motor_torque.csv.gz', delimiter=',', skiprows=1)
    assert np.allclose(45 * tau[:, 4] + 32 * tau[:, 5], run.torque[:, 4])
    # Others keep 2075 equations with this rest band at 50 Hz.
    figures = yaml.safe_load((shared / 'reference/tx40_measured.yaml').read_text())
    options = resolve(Processing(cutoff_hz=100, decimation=100), run.rate)
    first, last = usable(run, options)
    dq = decimate(differentiate(run, options)[1][first:last], 100)
    kept = int((~dropped(dq, figures['dead_band_rad_s'])).sum())
    assert abs(kept - figures['wls_fit']['equations']) <= 15


def test_ur10e_rows_and_resampling(shared):
    for name, rows in (('identification', 2875), ('validation', 3960)):
        dataset = data.load(shared / f'data/ur10e/{name}.csv.gz', 'ur10e_csv')
        run = dataset.runs[0]
        assert len(dataset.runs) == 1
        assert abs(dataset.rate - 100) < 1e-6
        # Stamps lie 10 or 12 ms apart, so there are more samples on the grid than rows.
        assert rows < len(run) < 1.1 * rows
        assert any('resampled to 100 Hz' in note for note in dataset.notes)
        assert data.check_plausible(dataset) == []
        # The measured velocity is that of the positions.
        slope = np.gradient(run.position, run.step, axis=0)
        error = np.linalg.norm(slope - run.velocity) / np.linalg.norm(run.velocity)
        assert error < 0.1
