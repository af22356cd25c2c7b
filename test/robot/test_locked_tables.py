"""Locked joints of a modified-DH table: the frames are those of the whole arm with them held."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from errors import refused

from robot_id.exceptions import DescriptionError
from robot_id.robot import RobotDescription, build_robot
from robot_id.robot.kinematics import to_pinocchio

ROWS = [
    {'alpha': 0.3, 'r': 0.4},
    {'alpha': -1.2, 'd': 0.1, 'theta': 0.2},
    {'type': 'prismatic', 'alpha': 0.7, 'd': 0.3},
    {'alpha': 1.1, 'd': 0.2, 'r': 0.1},
]


def robot(**locked):
    description = {
        'name': 'arm', 'mdh': ROWS, 'locked': locked,
        'joints': [{'name': name} for name in 'abcd'],
    }  # fmt: skip
    return build_robot(RobotDescription.model_validate(description), Path())


@pytest.mark.parametrize(
    'locked', [{'a': 0.4}, {'b': -1.0}, {'c': 0.2}, {'d': 0.9}, {'b': 0.5, 'c': -0.1}]
)
def test_the_frames_are_those_of_the_whole_arm(locked):
    whole, part = robot(), robot(**locked)
    free = [name for name in 'abcd' if name not in locked]
    assert part.joint_names == tuple(free)
    assert part.n == len(part.joints) == len(free)
    q = dict(zip('abcd', np.random.default_rng(0).normal(size=4))) | locked
    frames = []
    for each in (whole, part):
        kinematics = each.kinematics
        model = to_pinocchio(kinematics, np.zeros(3), np.zeros((len(kinematics.parent), 10)))
        data = model.createData()
        pin.forwardKinematics(model, data, np.array([q[name] for name in kinematics.joint_names]))
        frames.append({name: data.oMi[model.getJointId(name)] for name in free})
    for name in free:
        assert frames[0][name].isApprox(frames[1][name], 1e-12)


def test_what_cannot_be_locked_is_named():
    with refused(DescriptionError, joint='e'):
        robot(e=0.0)
    with refused(DescriptionError, code='all_locked'):
        robot(a=0.0, b=0.0, c=0.0, d=0.0)
