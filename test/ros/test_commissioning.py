"""Mistakes of commissioning on free-running MuJoCo plants: found before the robot moves far."""

import contextlib

import numpy as np
import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(400)]
pytest.importorskip('rclpy')
pytest.importorskip('mujoco')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from commissioning.cell import Cell
from commissioning.on_processes import measure
from commissioning.robots import BODIES, FRICTION, MACHINES, is_friction, prepare
from commissioning.rows import NONE
from plants.free_mechanics import Mechanics, Settings
from plants.mujoco_arms import robots_folder
from running.client import Client

from robot_id.dynamics import bias
from robot_id.methods.result import Result

# A process that a busy machine stalls is waited for.
PATIENCE_S = 0.5


@pytest.mark.parametrize('name', list(MACHINES))
def test_the_plant_weighs_what_the_model_of_the_robot_says(name, tmp_path):
    if MACHINES[name].stock and robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    prepared = prepare(name, tmp_path)
    arm = Mechanics(Settings.read(prepared.settings))
    robot = prepared.robot
    factors = np.where(is_friction(robot), FRICTION, BODIES)
    truth = Result.load(prepared.model).values / factors
    expected = bias(robot, truth, arm.q, np.zeros(robot.n), 1e3)
    assert arm.gravity() == pytest.approx(expected, abs=1e-4 * np.max(robot.limits.torque))


@contextlib.contextmanager
def cell_of(name, folder, **parameters):
    """A plant under a controller that is configured."""
    prepared = prepare(name, folder, PATIENCE_S)
    with (
        Client(namespace=name) as client,
        Cell(client, prepared, folder, name) as cell,
        cell.controlled(**parameters),
    ):
        yield cell


def held(row):
    """Whether a mistake was found before the robot moved far."""
    print(row.text)
    assert row.stopped, row.text
    assert row.named, row.text
    assert row.within, row.text


@pytest.mark.parametrize(
    ('name', 'mistakes'),
    [
        ('scara', ('sign', 'scale', 'unit', 'rate too low')),
        ('tx40', ('sign', 'unit', 'rate too high')),
    ],
)
def test_a_right_robot_is_commissioned_and_a_mistake_stops_it_before_it_moves_far(
    name, mistakes, tmp_path
):
    with cell_of(name, tmp_path) as cell:
        right = measure(cell, NONE, 'commission')
        print(right.text)
        assert not right.stopped, right.text
        assert right.violation == 'none'
        assert right.within, right.text
        for mistake in mistakes:
            held(measure(cell, mistake, 'commission'))
