"""Motions for stock arms with their meshes: found, and what MuJoCo's recording says of them."""

from __future__ import annotations

import numpy as np
import pytest

from robot_id.excitation.clearance import clearance_of
from robot_id.excitation.design import ExcitationOptions, excite
from robot_id.robot import load_robot

pytest.importorskip('mujoco')


@pytest.mark.parametrize('name', ['ur5', 'so100'])
def test_the_default_motion_is_clear_passes_the_check_and_is_usable(name, tmp_path):
    from excite_arms import identified
    from plants.mujoco_arms import make_stock_arm, robots_folder

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    arm = make_stock_arm(name, tmp_path)
    robot = load_robot(arm.robot_file)
    clearance = clearance_of(robot)
    found = excite(robot, ExcitationOptions(evaluations=60, workers=1), clearance)
    assert not any(note.startswith('not optimised') for note in found.notes)
    t = np.linspace(0.0, found.trajectory.duration, 1000)
    assert clearance.keeps(found.trajectory.sample(t)[0])
    seen = identified(robot, arm.urdf, found.trajectory, 0, speeds=(1.0,))
    assert (seen['codes'], seen['verdict']) == ([], 'usable')
    assert seen['validation'] < 3.0


def test_an_arm_whose_random_motions_all_collide_gets_a_motion(tmp_path):
    """On the PR2 the search finds what no random motion shrinks to."""
    from plants.mujoco_arms import make_stock_arm, robots_folder

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    robot = load_robot(make_stock_arm('pr2', tmp_path).robot_file)
    clearance = clearance_of(robot)
    found = excite(robot, ExcitationOptions(evaluations=150, workers=1), clearance)
    t = np.linspace(0.0, found.trajectory.duration, 1000)
    assert clearance.keeps(found.trajectory.sample(t)[0])
    assert found.search.figures['weighted'] <= found.search.before['weighted']
