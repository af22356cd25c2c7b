"""Commissioning on real processes: the action, the plant and the topics between them."""

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(400)]
pytest.importorskip('rclpy')
pytest.importorskip('mujoco')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from commissioning.cell import Cell
from commissioning.on_processes import measure
from commissioning.robots import prepare
from commissioning.rows import NONE
from running.client import Client

# A process that a busy machine stalls is waited for.
PATIENCE_S = 0.5


def test_a_right_robot_is_commissioned_and_a_mistake_stops_it_before_it_moves_far(tmp_path):
    prepared = prepare('scara', tmp_path, PATIENCE_S)
    with (
        Client(namespace='scara') as client,
        Cell(client, prepared, tmp_path, 'scara') as cell,
        cell.controlled(),
    ):
        right = measure(cell, NONE, 'commission')
        print(right.text)
        assert not right.stopped, right.text
        assert right.violation == 'none'
        assert right.within, right.text
        for mistake in ('sign', 'gear', 'rate too low'):
            row = measure(cell, mistake, 'commission')
            print(row.text)
            assert row.stopped, row.text
            assert row.named, row.text
            assert row.within, row.text
