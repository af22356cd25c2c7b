"""The guess of unknown columns: drawn layouts, and layouts that users had."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

from plants.table_layouts import judged, make_layout, motion, torques  # noqa: E402

from robot_id.data import load  # noqa: E402
from robot_id.exceptions import DataError  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402
from robot_id.tasks.guessing.guess import guess  # noqa: E402
from robot_id.tasks.guessing.naming import name_of  # noqa: E402
from robot_id.tasks.guessing.writing import (  # noqa: E402
    mapping_text,
    refuse_contradictions,
    write,
)

SAMPLE, SEED = 24, 1
TX40 = ROOT / 'urdf/tx40.urdf'


def test_drawn_layouts_are_read_right_or_marked(tmp_path):
    """Nine of ten are right; whatever is wrong in the others is marked as not sure."""
    right = 0
    for number in range(SAMPLE):
        layout = make_layout(tmp_path, SEED, number)
        found = guess(layout.robot.urdf, layout.path)
        judgement = judged(layout, found)
        assert not judgement.silent, (number, judgement.silent)
        refuse_contradictions(found)
        right += judgement.right
    assert right >= 0.9 * SAMPLE


@pytest.fixture(scope='module')
def recording():
    """Return time, positions, velocities and torques of a TX40."""
    rng = np.random.default_rng(5)
    robot = load_robot(TX40)
    time = np.arange(3000) / 500.0
    q, dq, ddq = motion(robot, rng, time)
    return robot, time, q, dq, torques(robot, rng, q, dq, ddq)


def table(path, names, columns, mark=','):
    """Write a table."""
    rows = '\n'.join(mark.join(f'{v:.9g}' for v in row) for row in np.column_stack(columns))
    path.write_text(mark.join(names) + '\n' + rows + '\n')
    return path


def numbered(pattern, n=6):
    return [pattern.format(i) for i in range(1, n + 1)]


def test_the_files_that_are_written_read_the_recording(tmp_path, recording):
    """What is written gives back the motion in SI, in the joints of the robot."""
    robot, time, q, _dq, tau = recording
    names = ['zeit_ms', *numbered('Winkel_A{}[deg]'), *numbered('Moment A{} [Nm]'), 'status']
    path = table(tmp_path / 'log.csv', names, [1e3 * time, np.rad2deg(q), tau, 0 * time], ';')
    found = guess(TX40, path)
    assert not found.not_sure
    robot_file, mapping = write(found, tmp_path)
    dataset = load(path, mapping, load_robot(robot_file))
    assert dataset.joint_names == robot.joint_names
    np.testing.assert_allclose(dataset.runs[0].position, q, atol=1e-6)
    np.testing.assert_allclose(dataset.runs[0].torque, tau, rtol=1e-6, atol=1e-6)
    with pytest.raises(DataError) as error:
        write(found, tmp_path)
    assert error.value.code == 'exists'


def test_a_file_for_each_joint(tmp_path, recording):
    _, time, q, _, tau = recording
    folder = tmp_path / 'run'
    folder.mkdir()
    for j in range(6):
        table(
            folder / f'axis_{j + 1}.csv', ['t', 'pos', 'torque [Nm]'], [time, q[:, j], tau[:, j]]
        )
    found = guess(TX40, folder)
    _, mapping = write(found, tmp_path)
    dataset = load(folder, mapping, load_robot(TX40))
    np.testing.assert_allclose(dataset.runs[0].position, q, atol=1e-6)


def test_lists_in_a_json_log(tmp_path, recording):
    import json

    _, time, q, dq, tau = recording
    samples = [
        {'stamp': t, 'state': {'q': list(a), 'dq': list(b), 'tau': list(c)}}
        for t, a, b, c in zip(time, q, dq, tau)
    ]
    path = tmp_path / 'log.json'
    path.write_text(json.dumps(samples))
    found = guess(TX40, path)
    assert {'position', 'velocity', 'torque', 'time'} <= {e.channel for e in found.assignments}
    _, mapping = write(found, tmp_path)
    np.testing.assert_allclose(load(path, mapping, load_robot(TX40)).runs[0].position, q)


@pytest.mark.parametrize('quote', ['"', ''])
def test_lists_in_the_cells_of_a_csv(tmp_path, recording, quote):
    _, time, q, _, tau = recording
    rows = [
        f'{t:.9g},{quote}{[float(v) for v in a]}{quote},{quote}{[float(v) for v in b]}{quote}'
        for t, a, b in zip(time, q, tau)
    ]
    path = tmp_path / 'log.csv'
    path.write_text('\n'.join(['timestamp,joint_positions,joint_torques', *rows]) + '\n')
    found = guess(TX40, path)
    _, mapping = write(found, tmp_path)
    run = load(path, mapping, load_robot(TX40)).runs[0]
    np.testing.assert_allclose(run.position, q, atol=1e-9)
    np.testing.assert_allclose(run.torque, tau, atol=1e-9)


def test_grippers_are_locked(tmp_path):
    from plants.mujoco_arms import robots_folder

    folder = robots_folder()
    if folder is None:
        pytest.skip('example-robot-data is not installed')
    urdf = folder / 'panda_description/urdf/panda.urdf'
    rng = np.random.default_rng(2)
    robot = load_robot(urdf, lock={'panda_finger_joint1': 0.0})
    time = np.arange(1500) / 250.0
    q, dq, ddq = motion(robot, rng, time)
    tau = torques(robot, rng, q, dq, ddq)
    names = ['time', *numbered('q_{}', 7), *numbered('tau_J_{}', 7)]
    path = table(tmp_path / 'a.csv', names, [time, q, tau])
    found = guess(urdf, path)
    assert set(found.locked) == {'panda_finger_joint1'}
    robot_file, _ = write(found, tmp_path)
    assert load_robot(robot_file).joint_names == robot.joint_names


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('q_d[3]', ('position', 'reference', '3')),
        ('current_position_2', ('position', '', '2')),
        ('Ist-Strom A4', ('current', 'actual', '4')),
        ('关节3目标位置', ('position', 'reference', '3')),
        ('vitesse mesurée 1', ('velocity', 'actual', '1')),
        ('Moment_A4', ('torque', '', '4')),
        ('tau_ext_5', ('other', '', '5')),
        ('target_qd_0', ('velocity', 'reference', '0')),
    ],
)
def test_names(name, expected):
    found = name_of(name, ())
    assert (found.quantity, found.role, found.joint) == expected
    assert not found.unit


def test_what_nothing_tells_is_marked(tmp_path, recording):
    """No names, no clock, no velocity: columns may be right, but none is sure."""
    _, _, q, _, tau = recording
    path = tmp_path / 'bare.csv'
    np.savetxt(path, np.column_stack([q, tau]), delimiter=',')
    found = guess(TX40, path)
    assert {'position', 'torque', 'rate_hz'} <= set(found.not_sure)
    assert mapping_text(found).count('NOT SURE') >= 3


def test_unsigned_currents_are_marked(tmp_path, recording):
    _, time, q, _, tau = recording
    names = ['time', *numbered('pos{}'), *numbered('current{} [A]')]
    path = table(tmp_path / 'u.csv', names, [time, q, np.abs(tau) / 10.0])
    assert 'torque' in guess(TX40, path).not_sure


def test_the_motor_side_is_marked(tmp_path, recording):
    """A name with both words, axis and motor, is of the motor; nothing tells its gear ratio."""
    _, time, q, dq, tau = recording
    names = ['t', *numbered('axis{}_motor_position'), *numbered('axis{}_motor_speed'),
             *numbered('axis{}_motor_torque [Nm]')]  # fmt: skip
    path = table(tmp_path / 'm.csv', names, [time, q, dq, tau])
    assert {'position', 'velocity'} <= set(guess(TX40, path).not_sure)


def test_a_bag_needs_no_mapping(tmp_path):
    (tmp_path / 'metadata.yaml').touch()
    with pytest.raises(DataError, match='a bag has names and SI units, it needs no mapping'):
        guess('scara', tmp_path)


def test_a_table_of_something_else_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    path = table(tmp_path / 'x.csv', ['name', 'price'], [rng.normal(size=50), rng.normal(size=50)])
    with pytest.raises(DataError) as error:
        guess(TX40, path)
    assert error.value.code == 'unknown_columns'


@pytest.mark.parametrize('factor', [0.02, 0.05])
def test_a_small_motion_leaves_its_unit_open(tmp_path, recording, factor):
    """A few degrees in rad are not taken for turns without a word."""
    _, time, q, _, tau = recording
    small = factor * (q - q[0])
    path = table(tmp_path / 's.csv', ['t', *numbered('q{}'), *numbered('tau{} [Nm]')],
                 [time, small, tau])  # fmt: skip
    found = guess(TX40, path)
    assert 'position' in found.not_sure or found.of('position')[0].unit in ('', 'rad')


@pytest.mark.parametrize(
    ('column', 'change', 'said'),
    [
        (1, {'unit': 'foo'}, "no unit 'foo'"),
        (1, {'joint': 'joint_2'}, 'two columns'),
        (1, {'joint': ''}, 'no joint'),
        (1, {'channel': ''}, 'no column is its position'),
        (1, {'channel': 'time'}, 'several columns'),
        (7, {'channel': ''}, 'no column is its torque'),
    ],
)
def test_a_correction_that_no_mapping_can_say_is_refused(
    tmp_path, recording, column, change, said
):
    """What a person chooses on the page is one line when it cannot be, and nothing is written."""
    _, time, q, _, tau = recording
    names = ['time [s]', *numbered('q{} [rad]'), *numbered('tau{} [Nm]')]
    found = guess(TX40, table(tmp_path / 'log.csv', names, [time, q, tau]))
    assert not found.not_sure
    each = list(found.assignments)
    each[column] = replace(each[column], **change)
    with pytest.raises(DataError, match=said) as error:
        write(replace(found, assignments=tuple(each)), tmp_path)
    assert '\n' not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ['log.csv']
