"""A robot whose loop nobody knows: a simulated one that swings is no instrument."""

from pathlib import Path

import numpy as np
import pytest

from robot_id.robot import load_robot
from robot_id.tasks import record
from robot_id.tasks.identify import Request, identify
from robot_id.trajectory.default import motion_of

URDF = Path(__file__).resolve().parents[2] / 'urdf/tx40.urdf'


@pytest.fixture(scope='module')
def found():
    """Return what idim_iv says of a URDF without rotors and friction in computed torque."""
    robot = load_robot(str(URDF))
    recording = record(robot, motion_of(robot, 'random', 4.0))
    return robot, identify(Request(robot, recording, 'idim_iv')).result


def test_the_error_is_that_of_a_motion_of_this_robot(found):
    robot, result = found
    print(f'error {result.relative_error_percent:.3g} %')
    # 2000 % where the assumed pd loop swung, with a hold-out error of nothing.
    assert result.relative_error_percent < 5.0
    large = np.abs(robot.truth()) > 0.1
    np.testing.assert_allclose(result.values[large], robot.truth()[large], rtol=0.01)
