"""The on-line methods on real recordings, beside IDIM-WLS on the same data."""

import numpy as np
import pytest

from robot_id import data
from robot_id.methods import registry
from robot_id.robot import load_robot


@pytest.fixture(scope='module')
def emps(shared):
    robot = load_robot('emps')
    path = shared / 'data' / 'emps' / 'DATA_EMPS.mat'
    if not path.is_file():
        pytest.skip(f'no recording: {path} does not exist')
    recording = data.load(path, 'emps_benchmark', robot)
    return robot, recording, registry.create('idim_wls').estimate(robot, recording)


@pytest.mark.parametrize('method', ['ekf', 'rls', 'riv', 'integral'])
def test_emps(emps, method):
    robot, recording, wls = emps
    options = {'passes': 1} if method == 'ekf' else {}
    result = registry.create(method, options).estimate(robot, recording)
    bound = 0.12 if method == 'integral' else 0.03
    for name in ('M1', 'Fv1', 'Fc1'):
        place = [k for k, text in enumerate(result.names) if text.startswith(name)]
        assert np.allclose(result.values[place], wls.values[place], rtol=bound), name
    assert result.relative_error_percent < wls.relative_error_percent + 1.0
    assert result.converged


def test_ekf_on_the_tx40(shared):
    """72 states, 5 kHz thinned to 250 Hz; the filter must not lose what WLS found."""
    path = shared / 'data' / 'tx40' / 'motor_position.csv.gz'
    if not path.is_file():
        pytest.skip(f'no recording: {path} does not exist')
    robot = load_robot('tx40')
    recording = data.load(path, 'tx40_csv', robot)
    result = registry.create('ekf', {'passes': 1}).estimate(robot, recording)
    assert result.converged
    assert result.relative_error_percent < 12.0
    assert result.extras['rate_hz'] == pytest.approx(250.0)
    assert len(result.extras['track'][0]['parameters'][0]) == 60
    for name, value in (('ZZ1R', 1.24), ('Fv1', 8.05), ('Fv2', 5.55)):  # table 2 of paper 001
        assert result[name] == pytest.approx(value, rel=0.1)
