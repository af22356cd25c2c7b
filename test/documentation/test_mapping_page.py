"""doc/reference/mappings.md: every key is explained, and every example reads data of its kind."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from robot_id import data
from robot_id.data import Dataset, Run, load_mapping, units
from robot_id.data.mapping import Channel, Mapping, TimeColumn, Topics

PAGE = (Path(__file__).resolve().parents[2] / 'doc' / 'reference' / 'mappings.md').read_text()
EXAMPLES = re.findall(r'^```yaml\n(.*?)^```', PAGE, re.M | re.S)


def title(text):
    return re.search(r'description: (.*)', text)[1]


def example(part, folder):
    (text,) = [each for each in EXAMPLES if part in title(each)]
    path = folder / 'mapping.yaml'
    path.write_text(text)
    return path


def motion(n, N, rate):
    t = np.arange(N) / rate
    phases = np.arange(n)
    return t, np.sin(2 * t[:, None] + phases), np.cos(3 * t[:, None] + phases)


def csv(path, columns):
    """Write pairs of n names and (N, n) values."""
    names = [name for some, _ in columns for name in some]
    values = np.hstack([np.reshape(values, (len(values), -1)) for _, values in columns])
    np.savetxt(path, values, delimiter=',', header=','.join(names), comments='', fmt='%.12g')
    return path


@pytest.mark.parametrize('text', EXAMPLES, ids=title)
def test_examples_are_mappings(text, tmp_path):
    path = tmp_path / 'mapping.yaml'
    path.write_text(text)
    mapping = load_mapping(path)
    assert mapping.description == title(text)


@pytest.mark.parametrize('kind', [Mapping, Channel, TimeColumn, Topics])
def test_every_key_is_explained(kind):
    for key in kind.model_fields:
        assert f'`{key}`' in PAGE, key


def test_every_unit_is_named():
    for known in (units.TIME, units.POSITION, units.TORQUE, units.SIGNAL, units.TEMPERATURE):
        for unit in known:
            assert f'`{unit}`' in PAGE, unit


def test_ur(tmp_path):
    t, q, u = motion(6, 200, 125)

    def names(name):
        return [f'{name}_{number}' for number in range(6)]

    path = csv(
        tmp_path / 'rtde.csv',
        [
            (['timestamp'], 5e3 + t),
            (names('target_q'), q),
            (names('actual_q'), q),
            (names('actual_qd'), q),
            (names('actual_current'), u),
            (names('joint_temperatures'), 30 + q),
        ],
    )
    dataset = data.load(path, example('UR10e', tmp_path))
    assert dataset.joint_names[0] == 'shoulder_pan_joint'
    assert dataset.rate == pytest.approx(125)
    gains = [14.87, 13.26, 11.13, 10.62, 11.03, 11.47]
    np.testing.assert_allclose(dataset.runs[0].torque, u * gains, atol=1e-6)


def test_franka(tmp_path):
    t, q, tau = motion(7, 200, 1000)
    columns = [(['time'], 1e3 * t)]
    for name in ('q', 'q_d', 'dq', 'dq_d', 'tau_J'):
        names = [f'state.{name}[{number}]' for number in range(7)]
        columns.append((names, tau if name == 'tau_J' else q))
    dataset = data.load(csv(tmp_path / 'log.csv', columns), example('Franka', tmp_path))
    assert dataset.rate == pytest.approx(1000)
    np.testing.assert_allclose(dataset.runs[0].position, q, atol=1e-9)
    np.testing.assert_allclose(dataset.runs[0].torque, tau, atol=1e-9)


def test_kuka(tmp_path):
    t, q, tau = motion(6, 200, 250)
    columns = [(['IPOC'], 4e6 + 1e3 * t)]
    for name, values in (('AIPos', np.rad2deg(q)), ('ASPos', q), ('GearTorque', tau)):
        columns.append(([f'{name}.A{number}' for number in range(1, 7)], values))
    dataset = data.load(csv(tmp_path / 'rsi.csv', columns), example('RSI', tmp_path))
    np.testing.assert_allclose(dataset.runs[0].position, q * [-1, 1, 1, -1, 1, -1], atol=1e-9)
    np.testing.assert_allclose(dataset.runs[0].torque, tau * [-1, 1, 1, -1, 1, -1], atol=1e-9)
    trace = tmp_path / 'trace.csv'
    np.savetxt(trace, np.tile(np.hstack([q, tau]), (50, 1)), delimiter=',')
    assert [len(run) for run in data.load(trace, example('trace', tmp_path)).runs] == [9001]


def test_bag(tmp_path):
    t, q, u = motion(2, 4000, 20)
    recording = Dataset(('motor_2', 'motor_1'), (Run(t, q, u),), 'here')
    data.save(recording, tmp_path / 'bag')
    mapping = example('bag of a driver', tmp_path)
    dataset = data.load(tmp_path / 'bag', mapping, joint_names=('shoulder', 'elbow'))
    rows = slice(600, 3001)
    expected = q[rows, ::-1] + [0.0, 1.5707963]
    np.testing.assert_allclose(dataset.runs[0].position, expected, atol=1e-9)
    np.testing.assert_allclose(dataset.runs[0].torque, u[rows, ::-1] * [52, -31], atol=1e-9)


def test_matlab(tmp_path):
    t, q, tau = motion(2, 500, 1000)
    path = tmp_path / 'log.mat'
    degrees = np.rad2deg(q.T)
    log = {'t': t, 'q': degrees, 'dq': degrees, 'tau': 1e3 * tau.T, 'gear': [50.0, -30.0]}
    content = {'log': log, 'data': np.hstack([q, tau])}
    for number, joint in enumerate(('shoulder', 'elbow')):
        content |= {f'q_{joint}': q[:, number], f'u_{joint}': tau[:, number]}
    savemat(path, content)
    for part, factor in (('struct', [50, -30]), ('matrix', [1, 1])):
        run = data.load(path, example(part, tmp_path)).runs[0]
        np.testing.assert_allclose(run.position, q, atol=1e-9)
        np.testing.assert_allclose(run.torque, tau * factor, atol=1e-9)
    robot = type('Robot', (), {'joint_names': ('shoulder', 'elbow')})()
    robot.drive_gains = {'shoulder': 7.0, 'elbow': -2.0}
    run = data.load(path, example('q_shoulder', tmp_path), robot).runs[0]
    np.testing.assert_allclose(run.torque, tau * [7, -2], atol=1e-9)
