"""A load that was taken off is told by the distance to the nearest body."""

import numpy as np
import pytest
from errors import refused

from robot_id.exceptions import DataError
from robot_id.robot import Payload
from robot_id.tasks.payload.consistency import nearest_consistent, squared_distance
from robot_id.tasks.payload.swapped import by_chance, refuse_swapped

LOAD = Payload(2.0, (0.0, -0.03, 0.08), (0.004, 0.0, 0.0, 0.005, 0.0, 0.003)).parameters()
ALL = np.ones(10, bool)
# The first moments are known far better than the mass, as of a tool that swings.
STD = np.array([*[2e-3] * 6, *[5e-3] * 3, 1.5])


@pytest.mark.parametrize('seed', range(5))
def test_the_negative_of_a_load_is_refused_though_its_mass_may_be_positive(seed):
    rng, C = np.random.default_rng(seed), np.diag(STD**2)
    p = -LOAD + STD * rng.normal(size=10)
    p[9] = -1.0
    assert p[9] > -3.0 * STD[9]
    with refused(DataError, code='swapped', key='unloaded'):
        refuse_swapped(p, C, ALL, 'joint')
    with refused(DataError, code='swapped', key='arm'):
        refuse_swapped(p, C, ALL, 'known_arm')


@pytest.mark.parametrize('seed', range(20))
def test_a_load_is_not_refused_nor_is_none(seed):
    rng, C = np.random.default_rng(seed), np.diag(STD**2)
    for load in (LOAD, np.zeros(10)):
        refuse_swapped(load + STD * rng.normal(size=10), C, ALL, 'joint')


def test_distance_is_that_of_the_metric_and_zero_for_a_body():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(10, 10))
    C = np.diag(STD) @ (A @ A.T / 10.0 + np.eye(10)) @ np.diag(STD)
    p = -LOAD
    body = nearest_consistent(p, C, ALL)
    wanted = (body - p) @ np.linalg.solve(C, body - p)
    assert squared_distance(p, body, C, ALL) == pytest.approx(wanted, rel=1e-6)
    assert squared_distance(p, p, C, ALL) == 0.0
    # One parameter alone: three deviations.
    assert by_chance(np.arange(10) == 9) == pytest.approx(9.0)
