"""Errors carry what their line names: joint, key, value and bound."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest

from robot_id import exceptions, options
from robot_id.control.learning.options import IlicOptions
from robot_id.data import Processing, resolve
from robot_id.data.joint_order import JointMatcher
from robot_id.exceptions import DataError, OptionError, RobotIdError, TrajectoryError
from robot_id.methods import registry
from robot_id.robot import load_robot
from robot_id.trajectory import Quintic
from robot_id.trajectory.limits import motion_limits
from robot_id.trajectory.reference_generator import check_limits

SOURCES = sorted(Path(exceptions.__file__).parent.rglob('*.py'))


def named(error):
    return error.joint, error.key, error.value, error.bound


def caught(kind, work, *args, **options):
    with pytest.raises(kind) as found:
        work(*args, **options)
    return found.value


def test_a_motion_beyond_a_limit_names_joint_peak_and_limit():
    robot = load_robot('scara')
    limit = float(robot.limits.velocity[1])
    fast = Quintic([[0.0, 0.0], [0.0, 1.0]], 1.875 / (2.0 * limit))
    planned = caught(TrajectoryError, motion_limits(robot, 0.5).check, fast)
    played = caught(TrajectoryError, check_limits, robot, fast)
    for error, bound in ((planned, 0.5 * limit), (played, limit)):
        assert error.joint == 'elbow'
        assert error.key == 'velocity'
        assert (error.value, error.bound) == pytest.approx((2.0 * limit, bound))
        assert "joint 'elbow' leaves its velocity limit" in str(error)


def test_limits_that_are_wrong_name_joint_and_quantity():
    robot = load_robot('scara')
    error = caught(TrajectoryError, motion_limits, robot, changes={'elbow.velocity': -1.0})
    assert named(error) == ('elbow', 'velocity', -1.0, 0.0)
    error = caught(OptionError, motion_limits, robot, changes={'elbo.velocity': 1.0})
    assert (error.joint, error.key) == ('elbo', 'elbo.velocity')


@pytest.mark.parametrize(
    ('work', 'key', 'value', 'bound'),
    [
        (lambda: registry.create('idim_wls', {'cutof_hz': 3}), 'cutof_hz', None, None),
        (lambda: registry.create('idim'), 'method', 'idim', None),
        (lambda: registry.create('idim_wls', {'order': '99'}), 'order', 99, (1, 12)),
        (lambda: registry.create('idim_wls', {'order': 'four'}), 'order', 'four', None),
        (lambda: resolve(Processing(cutoff_hz=60.0), 100.0), 'cutoff_hz', 60.0, 50.0),
        (lambda: IlicOptions(sigma_max=5.0), 'sigma_max', 5.0, (10.0, 30.0)),
        (lambda: options.parse(['a=1', 'a=2']), 'a', '2', None),
    ],
)
def test_options_name_their_key_and_their_range(work, key, value, bound):
    assert named(caught(OptionError, work)) == (None, key, value, bound)


def test_values_of_a_message_name_their_joint():
    order = JointMatcher(('a', 'b'))
    assert caught(DataError, order.match, ['a', 'c']).joint == 'b'
    order.match(['b', 'a'])
    error = caught(DataError, order.take, [np.inf, 0.0])
    assert (error.joint, error.value) == ('b', np.inf)


def test_the_data_survive_another_line_and_another_process():
    def read():
        try:
            raise DataError("joint 'a' is 5, must be at most 3", joint='a', value=5, bound=3)
        except DataError as error:
            raise DataError(f'file.csv: {error}', key='position') from error

    assert named(caught(DataError, read)) == ('a', 'position', 5, 3)
    there = pickle.loads(pickle.dumps(OptionError('x must be 1', key='x', value=2, bound=1)))
    assert (str(there), *named(there)) == ('x must be 1', None, 'x', 2, 1)


def test_whoever_names_a_joint_in_a_line_gives_it_as_data_too():
    kinds = {kind.__name__ for kind in RobotIdError.__subclasses__()}
    without, seen = [], 0
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and getattr(node.func, 'id', '') in kinds):
                continue
            parts = [part for arg in node.args for part in getattr(arg, 'values', [])]
            words = [
                str(getattr(part, 'value', '')) for part in parts if isinstance(part, ast.Constant)
            ]
            if not any(word.endswith("joint '") for word in words):
                continue
            seen += 1
            if not any(keyword.arg == 'joint' for keyword in node.keywords):
                without.append(f'{path.name}:{node.lineno}')
    assert seen > 40
    assert not without
