"""A recording that no consistent robot explains is never called usable with physical=true."""

from dataclasses import replace

import pytest
from test_physical_results import check, recording

from robot_id.dynamics import regressor
from robot_id.robot import load_robot
from robot_id.tasks.identify import Request, identify


def judged(robot, data):
    """Return the result by the fit alone: nobody looks at the data before."""
    options = {'physical': 'true'}
    return identify(Request(robot, data, 'idim_wls', options, check=False)).result


def changed(data, change):
    """Return a recording with other torques, change(run) (N, n)."""
    return replace(data, runs=tuple(replace(run, torque=change(run)) for run in data.runs))


@pytest.mark.parametrize('name', ['scara', 'emps', 'tx40'])
def test_torques_with_the_wrong_sign_are_not_usable(name):
    robot = load_robot(name)
    data = recording(robot)
    result = judged(robot, changed(data, lambda run: -run.torque))
    check(robot, result)
    assert not result.physical['consistent']
    assert result.verdict != 'usable'
    assert any('sign' in reason for reason in (*result.reasons, result.physical['meaning']))


@pytest.mark.parametrize('name', ['scara', 'emps', 'tx40'])
def test_a_joint_that_friction_drives_on_is_not_usable(name):
    robot = load_robot(name)
    data = recording(robot)
    fine = judged(robot, data)
    assert fine.physical['consistent']
    k = robot.base.index('Fv1')
    # Below zero by ten deviations.
    lacking = robot.truth()[k] + 10.0 * fine.std[fine.names.index('Fv1')]

    def driven(run):
        W = regressor(robot, run.position, run.velocity, 0.0 * run.velocity)
        return run.torque - lacking * W[:, :, k]

    result = judged(robot, changed(data, driven))
    check(robot, result)
    assert not result.physical['consistent']
    assert 'Fv1' in {one['name'] for one in result.physical['pulling']}
    assert result.verdict != 'usable'
