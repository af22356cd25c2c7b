"""Mappings of .npz and .mat files: arrays with a row or a column for each joint."""

import numpy as np
import pytest
from errors import refused
from mapped_files import samples, table
from scipy.io import savemat

from robot_id import data
from robot_id.exceptions import DataError


@pytest.mark.parametrize('kind', ['npz', 'mat'])
@pytest.mark.parametrize('joint_names', [None, ('a', 'b', 'c')])
@pytest.mark.parametrize('named', [True, False])
def test_a_row_for_each_joint(tmp_path, write, kind, joint_names, named):
    """Arrays (n, N) are told by their shape, with and without a mapping, and it is said."""
    q, tau = samples(3)
    path = tmp_path / f'log.{kind}'
    content = {'q': q.T, 'tau': tau.T, 't': np.arange(50.0)[None] / 100}
    savemat(path, content) if kind == 'mat' else np.savez(path, **content)
    mapping = write(rate_hz=100, position={'variable': 'q'}, torque={'variable': 'tau'})
    dataset = data.load(path, mapping if named else None, joint_names=joint_names)
    np.testing.assert_allclose(dataset.runs[0].position, q)
    np.testing.assert_allclose(dataset.runs[0].torque, tau)
    assert sum('3 x 50, a row for each joint' in note for note in dataset.notes) == 2


def test_a_square_array_is_transposed_only_when_told(tmp_path, write):
    q, tau = samples(8, 8)
    path = tmp_path / 'log.npz'
    np.savez(path, q=q, tau=tau)
    for told in (None, False, True):
        sides = {
            name: {'variable': variable, 'transposed': told}
            for name, variable in (('position', 'q'), ('torque', 'tau'))
        }
        run = data.load(path, write(rate_hz=100, **sides)).runs[0]
        np.testing.assert_allclose(run.position, q.T if told else q)


def test_columns_of_a_wide_variable_count_its_rows(tmp_path, write):
    q, tau = samples(2, 60)
    path = tmp_path / 'log.npz'
    np.savez(path, log=np.hstack([q, tau]).T)
    mapping = write(
        rate_hz=100,
        position={'variable': 'log', 'columns': '1-2'},
        torque={'variable': 'log', 'columns': '3-4'},
    )
    run = data.load(path, mapping, joint_names=('a', 'b')).runs[0]
    np.testing.assert_allclose(run.position, q)
    np.testing.assert_allclose(run.torque, tau)


def test_our_own_names_without_a_time_are_told_of_rate_hz(tmp_path):
    q, tau = samples()
    path = tmp_path / 'log.npz'
    np.savez(path, position=q, torque=tau)
    with refused(DataError, code='no_time'):
        data.load(path)
    header = 'position.a,position.b,torque.a,torque.b'
    with refused(DataError, code='no_time'):
        data.load(table(tmp_path, np.hstack([q, tau]), header=header))
