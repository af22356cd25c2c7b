"""Parameters of arms that MuJoCo simulates, whose friction gives way softly around rest."""

import numpy as np
import pytest

from robot_id.methods import registry
from robot_id.regression.preprocessing.alignment import align
from robot_id.robot import load_robot

mujoco_arms = pytest.importorskip('plants.mujoco_arms')
mujoco_recordings = pytest.importorskip('plants.mujoco_recordings')
mujoco_truth = pytest.importorskip('plants.mujoco_truth')
pytest.importorskip('mujoco')
pytestmark = pytest.mark.skipif(
    mujoco_arms.robots_folder() is None, reason='example-robot-data is not installed'
)


def recorded(seed, folder):
    """Return a UR5, a recording of 12 s and its true parameters."""
    rng = np.random.default_rng([seed, 77])
    arm = mujoco_arms.make_arm('ur5', folder, rng)
    dataset, model = mujoco_truth.truthful(arm, rng, mujoco_recordings.Motion(12.0, 250.0))
    robot = load_robot(arm.robot_file)
    return robot, dataset, mujoco_truth.true_parameters(robot, model, rng)


def test_soft_friction_of_a_wrist_is_no_delay_of_its_torque(tmp_path):
    robot, dataset, truth = recorded(0, tmp_path)
    offset = align(robot, dataset.select(robot.joint_names), 'auto').offset
    print(
        'offsets of the joints, ms', {k: round(1e3 * v, 2) for k, (v, _) in offset.joints.items()}
    )
    # The last joint alone would say -8.5 +- 0.5 ms.
    assert not offset.differ
    # The hold of the controller, half of its 1 ms, less half a step of the plant.
    assert 1e3 * offset.seconds == pytest.approx(-0.375, abs=0.15)
    result = registry.create('idim_wls', {}).estimate(robot, dataset)
    rotor = robot.base.names.index('Ia6')
    assert abs(result.values[rotor] - truth[rotor]) < 3.0 * result.std[rotor]


def test_friction_that_explains_all_torques_keeps_its_size_where_reversals_are_freed(tmp_path):
    robot, dataset, truth = recorded(13, tmp_path)
    result = registry.create('idim_wls', {}).estimate(robot, dataset)
    assert result.options['coulomb_slope'] is None
    z = dict(zip(robot.base.names, (result.values - truth) / result.std))
    friction = {name: round(z[name], 1) for name in z if name.startswith('F')}
    print('errors of friction in deviations', friction)
    assert max(map(abs, friction.values())) < 3.5


def test_didim_without_a_reference_is_as_good_as_least_squares(tmp_path):
    """Its assumed loop moved the model beside the robot: rotors were 6 to 7 deviations off."""
    robot, dataset, truth = recorded(41, tmp_path)
    rms = {}
    for method in ('idim_wls', 'didim'):
        result = registry.create(method, {}).estimate(robot, dataset)
        known = result.std < 0.2 * np.abs(result.values)
        errors = ((result.values - truth) / result.std)[known]
        rms[method] = float(np.sqrt(np.mean(errors**2)))
    print('errors in deviations', rms)
    assert rms['didim'] < 1.2 * rms['idim_wls']
