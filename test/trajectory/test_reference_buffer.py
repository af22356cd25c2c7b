"""References by their stamps, and from a moving reference to rest."""

import numpy as np
from errors import refused
from reference_message import point

from robot_id.control.runtime.reference_buffer import Brake, ReferenceBuffer
from robot_id.exceptions import DataError

MS = 1_000_000


def test_a_reference_is_found_by_its_stamp_and_carried_on():
    buffer = ReferenceBuffer(('carriage',))
    for k in (0, 2, 1):
        buffer.take(point(k * MS, float(k), 3.0, 8.0))
    assert buffer.exact(1 * MS)[0] == 1.0
    assert buffer.at(0 * MS - 1, MS) is None
    late = buffer.at(2 * MS + MS // 2, MS)
    t = 0.5e-3
    assert np.allclose(late.ravel(), [2.0 + 3.0 * t + 4.0 * t**2, 3.0 + 8.0 * t, 8.0], rtol=1e-15)
    assert buffer.at(4 * MS, MS) is None


def test_a_reference_without_velocity_is_refused():
    message = point(0, 1.0)
    message.points[0].velocities = []
    with refused(DataError, code='joint_count'):
        ReferenceBuffer(('carriage',)).take(message)


def test_braking_ends_at_rest_after_the_way_that_physics_says():
    brake = Brake(np.array([[0.0, 1.0], [0.5, -1.0], [0.0, 0.0]]), 0, np.array([2.0, 4.0]))
    assert brake.at(0)[1].tolist() == [0.5, -1.0]
    assert not brake.over(249 * MS)
    assert brake.over(250 * MS)
    end = brake.at(10_000 * MS)
    assert np.allclose(end[0], [0.5**2 / 4.0, 1.0 - 1.0 / 8.0], rtol=1e-12)
    assert np.all(end[1:] == 0.0)
