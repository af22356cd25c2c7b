"""Wrong units are noticed, right ones are not."""

import numpy as np

from robot_id.data import Dataset, Run, check_plausible

t = np.arange(1000) / 1000


def dataset(scale_q=1.0, scale_tau=1.0):
    q = np.stack([1.5 * np.sin(5 * t), 0.2 * np.cos(3 * t)], axis=1)
    tau = np.stack([20 * np.cos(t), 3 * np.sin(t)], axis=1)
    return Dataset(('arm', 'slide'), (Run(t, scale_q * q, scale_tau * tau),), source='log.csv')


LIMITS = {
    'lower': [-2, -0.3],
    'upper': [2, 0.3],
    'velocity': [10, 1],
    'torque': [50, 20],
    'prismatic': [False, True],
}


def test_good_data_give_no_warning():
    assert check_plausible(dataset(), **LIMITS) == []
    assert check_plausible(dataset()) == []


def test_degrees_and_millimetres():
    lines = check_plausible(dataset(scale_q=180 / np.pi), **LIMITS)
    assert any("joint 'arm'" in line and 'degrees in place of radians' in line for line in lines)
    lines = check_plausible(dataset(scale_q=1000.0), **LIMITS)
    assert any("joint 'slide'" in line and 'mm in place of m' in line for line in lines)


def test_several_turns_without_limits():
    lines = check_plausible(dataset(scale_q=180 / np.pi))
    assert any("joint 'arm'" in line and 'turns' in line for line in lines)


def test_torque_in_newton_millimetres():
    lines = check_plausible(dataset(scale_tau=1000.0), **LIMITS)
    assert any("joint 'arm': torque" in line and 'N.mm' in line for line in lines)


def test_a_drive_that_was_off_and_a_joint_that_stood_still():
    lines = check_plausible(dataset(scale_tau=0.0))
    assert sum('torque is zero' in line for line in lines) == 2
    lines = check_plausible(dataset(scale_q=0.0))
    assert sum('position never changes' in line for line in lines) == 2


def test_a_wrong_rate_shows_in_the_velocity():
    right = dataset()
    run = right.runs[0]
    fast = Dataset(right.joint_names, (Run(run.time / 20, run.position, run.torque),))
    assert any('moves at up to' in line for line in check_plausible(fast, **LIMITS))
