"""The payload that a change of the parameters stands for."""

import numpy as np
import pytest

from robot_id.control.runtime.payload import estimate_payload
from robot_id.robot import Payload, payload_parameters


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_payload_of_a_known_change(name, request):
    """The base parameters of a robot with a heavier last link give back the added mass."""
    robot = request.getfixturevalue(name)
    mass = 1.7
    centre = (0.02, -0.01, 0.05) if robot.n > 1 else (0.0, 0.0, 0.0)
    before = robot.truth()
    after = before + payload_parameters(robot, Payload(mass, centre))
    b = len(before)
    covariance = np.diag((1e-4 * (0.1 + np.abs(before))) ** 2)
    payload = estimate_payload(robot, before, after, covariance, np.ones(b, bool))
    assert payload.mass == pytest.approx(mass, rel=1e-6)
    assert payload.significant
    assert str(payload).startswith('payload: 1.7 kg +- ')
    assert any(abs(change) > 0 for _, change, _ in payload.changes)


def test_payload_is_not_invented_when_its_parameters_were_not_estimated(scara):
    b = len(scara.base)
    updated = np.zeros(b, bool)
    updated[[scara.base.index('Fv1'), scara.base.index('LMX2')]] = True
    payload = estimate_payload(scara, np.zeros(b), np.ones(b), np.eye(b), updated)
    assert payload.mass is None
    assert not payload.significant
