"""A mapping applied to the messages of a driver, against the formulas of its page."""

import numpy as np
import pytest

from robot_id.exceptions import DataError, OptionError
from robot_id.robot import load_robot
from robot_id.ros.driver_mapping import DriverMapping
from robot_id.tasks.measurements import load_for

JOINTS = ('shoulder', 'elbow')
RAW = np.array([3.0, -5.0])


def mapped(tmp_path, text, gains=None):
    path = tmp_path / 'driver.yaml'
    path.write_text(text)
    return DriverMapping(str(path), JOINTS, gains or {})


def test_without_a_mapping_nothing_changes():
    driver = DriverMapping('', JOINTS, {})
    assert driver.names == JOINTS
    assert driver.topics.effort_commands == 'effort_commands'
    for convert in (driver.position, driver.torque, driver.command):
        assert convert(RAW) is RAW
        assert convert.back(RAW) is RAW


def test_names_signs_units_and_zeros(tmp_path):
    driver = mapped(
        tmp_path,
        """
joints: {b: elbow, a: shoulder}
topics: {joint_states: my/states, effort_commands: my/commands}
position: {unit: deg, scale: [-1, 2], offset: [0.1, 0.2]}
torque: {unit: mA, scale: [-8, 40]}
control: {unit: '%', scale: [-20, 150]}
""",
    )
    assert driver.names == ('a', 'b')
    assert (driver.topics.joint_states, driver.topics.effort_commands) == (
        'my/states',
        'my/commands',
    )
    assert driver.position(RAW) == pytest.approx([2 * np.radians(3) + 0.2, np.radians(5) + 0.1])
    assert driver.torque(RAW) == pytest.approx([40 * 3e-3, 8 * 5e-3])
    assert driver.command.back(np.array([75.0, 10.0])) == pytest.approx([50.0, -50.0])
    assert driver.command(driver.command.back(RAW)) == pytest.approx(RAW)


def test_coupled_motors_and_the_gains_of_the_robot_file(tmp_path):
    driver = mapped(
        tmp_path,
        """
topics: {}
position: {motor_matrix: [[10, 0], [5, 20]]}
torque: {unit: A, scale: drive_gain}
control: {motor_matrix: [[10, 5], [0, 20]]}
""",
        {'shoulder': 7.0, 'elbow': 9.0},
    )
    assert driver.position(np.array([10.0, 25.0])) == pytest.approx([1.0, 1.0])
    assert driver.torque(RAW) == pytest.approx([21.0, -45.0])
    assert driver.command.back(np.array([20.0, 20.0])) == pytest.approx([1.5, 1.0])


@pytest.mark.parametrize(
    ('text', 'kind', 'told'),
    [
        ('torque: {delay: 0.01}', DataError, 'not for a running robot'),
        ('joints: {a: wrist}', OptionError, "the robot has no joint 'wrist'"),
        ('control: {unit: A}', DataError, "needs the drive gain as 'scale'"),
        ('position: {scale: [1, 0]}', DataError, 'factor zero'),
        ('position: {scale: [1, 1, 1]}', DataError, '3 values for 2 joints'),
        ('torque: {unit: A, scale: drive_gain}', DataError, "joint 'shoulder' has none"),
        ('position: {columns: 1-2}', DataError, 'position.columns'),
    ],
)  # fmt: skip
def test_what_cannot_be_used_says_why(tmp_path, text, kind, told):
    with pytest.raises(kind, match=told):
        mapped(tmp_path, f'topics: {{}}\n{text}\n')


def test_every_verb_knows_the_drive_gains_of_the_robot_file(tmp_path):
    robot_file = tmp_path / 'mine.yaml'
    robot_file.write_text('name: mine\nmdh: [{}]\njoints: [{name: turn, drive_gain: 12.5}]\n')
    table = tmp_path / 'run.csv'
    t = np.arange(200) / 100.0
    np.savetxt(table, np.column_stack([t, np.sin(t), np.cos(t)]), delimiter=',')
    mapping = tmp_path / 'table.yaml'
    mapping.write_text(
        'time: {column: 1}\nposition: {columns: 2}\n'
        'torque: {columns: 3, unit: A, scale: drive_gain}\n'
    )
    run = load_for(load_robot(robot_file), [table], mapping).runs[0]
    assert run.torque[:, 0] == pytest.approx(12.5 * np.cos(t))


@pytest.mark.parametrize('scale', ['5e-324', '1e-300', '1e308', '.nan', '[1.0, 1e-13]'])
def test_factors_that_no_command_can_be_divided_by(tmp_path, scale):
    with pytest.raises(DataError, match=r'position.scale.*1e-12 to 1e\+12'):
        mapped(tmp_path, f'topics: {{}}\nposition: {{scale: {scale}}}\n')


def test_factors_that_are_too_small_together(tmp_path):
    text = 'topics: {}\ncontrol: {scale: 1e-9, motor_matrix: [[1e-9, 0], [0, 1e-9]]}\n'
    with pytest.raises(DataError) as caught:
        mapped(tmp_path, text)
    assert caught.value.key == 'control'
    assert caught.value.bound == (1e-12, 1e12)
