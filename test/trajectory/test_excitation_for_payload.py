"""A motion that weighs: its criterion is the load's, its gradient is that of the criterion."""

from __future__ import annotations

import numpy as np

from robot_id.excitation.design import ExcitationOptions, excite, make_objective
from robot_id.excitation.load import load_columns
from robot_id.robot import load_robot


def test_gradient_of_the_load_criterion_is_that_of_finite_differences():
    robot = load_robot('tx40')
    options = ExcitationOptions(purpose='payload', seconds=5.0)
    objective, notes = make_objective(robot, options)
    assert any('10 of its 10' in note for note in notes)
    rng = np.random.default_rng(1)
    x = rng.normal(size=objective.family.size * robot.n)
    value, gradient = objective(x, 8.0, 8.0)
    step, way = 1e-6, rng.normal(size=x.size)
    ahead, behind = (objective(x + s * step * way, 8.0, 8.0)[0] for s in (1.0, -1.0))
    assert np.isfinite(value)
    np.testing.assert_allclose((ahead - behind) / (2 * step), gradient @ way, rtol=1e-4)


def test_planar_arm_tells_four_parameters_and_its_motion_is_better_than_a_random_one():
    robot = load_robot('scara')
    assert load_columns(robot, np.ones(len(robot.base))).loads == 4
    options = ExcitationOptions(purpose='payload', seconds=5.0, evaluations=20, workers=1)
    found = excite(robot, options)
    assert found.search.figures['weighted'] <= found.search.before['weighted']
    assert len(found.deviations.names) == 4
    assert np.all(np.isfinite(found.deviations.std))
    assert found.to_dict()['purpose'] == 'payload'
