"""The load that was added since the arm was identified, in any order of the arm's parameters."""

import numpy as np

from robot_id.control.runtime.payload import load_of_change
from robot_id.methods.parameters import added_load
from robot_id.methods.result import Result
from robot_id.robot import Payload, payload_parameters
from robot_id.robot.payload import payload_columns

ROBOT = 'tx40'

PAYLOAD = Payload(2.0, (0.05, 0.02, 0.1), (0.01, 0.0, 0.0, 0.01, 0.0, 0.02))


def arm_of(robot, order):
    names = tuple(robot.base.names[i] for i in order)
    return Result('tx40', 'idim_wls', names, robot.truth()[order], 1e-8 * np.eye(len(order)))


def test_the_load_is_found_in_any_order_of_the_names(robot):
    order = np.arange(len(robot.base))
    chi = robot.truth() + payload_parameters(robot, PAYLOAD)
    loads = [
        added_load(robot, arm_of(robot, each), chi, 1e-8 * np.eye(len(order)))
        for each in (order, order[::-1])
    ]
    for load in loads:
        known = np.isfinite(load.standard)
        assert load.significant
        assert known.sum() >= 5
        np.testing.assert_allclose(load.standard[known], PAYLOAD.parameters()[known], atol=1e-6)
    bare = added_load(robot, arm_of(robot, order), robot.truth(), 1e-8 * np.eye(len(order)))
    assert not bare.significant
    assert not bare.clearly_differs_from(bare)
    assert bare.clearly_differs_from(loads[0]) == (loads[0].mass is not None)


def test_a_parameter_without_a_deviation_is_not_used(robot):
    covariance = 1e-8 * np.eye(len(robot.base))
    arm = arm_of(robot, np.arange(len(robot.base)))
    every = {name for name, _, _ in added_load(robot, arm, arm.values, covariance).changes}
    covariance[0, 0] = np.nan
    used = {name for name, _, _ in added_load(robot, arm, arm.values, covariance).changes}
    assert every - used == {robot.base.names[0]}


def test_a_change_by_a_load_is_explained_by_a_load(robot):
    change = payload_parameters(robot, PAYLOAD)
    p = load_of_change(robot, change)
    np.testing.assert_allclose(payload_columns(robot) @ p, change, atol=1e-12)
    assert np.linalg.norm(p) <= np.linalg.norm(PAYLOAD.parameters()) * (1.0 + 1e-9)
