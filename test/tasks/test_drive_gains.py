"""Wrong drive gains are found with one load of known mass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_id.exceptions import DataError, OptionError
from robot_id.robot import Payload, payload_parameters
from robot_id.tasks import record
from robot_id.tasks.drive_gains import identify_drive_gains

ROBOT = 'tx40'

GAINS = np.array([1.05, 0.8, 1.2, 0.9, 1.1, 0.85])
LOAD = Payload(2.0, (0.0, -0.03, 0.08), (0.004, 0.0, 0.0, 0.005, 0.0, 0.003))


@pytest.fixture(scope='module')
def recordings(robot):
    loaded = robot.truth() + payload_parameters(robot, LOAD)
    return record(robot, seed=21), record(robot, seed=22, parameters=loaded)


def wrong(dataset, gains):
    """Return a recording whose torques must be multiplied by the gains."""
    return replace(
        dataset, runs=tuple(replace(run, torque=run.torque / gains) for run in dataset.runs)
    )


def test_gains_of_all_drives_are_recovered(robot, recordings):
    unloaded, loaded = (wrong(data, GAINS) for data in recordings)
    found = identify_drive_gains(robot, unloaded, loaded, 2.0)
    np.testing.assert_allclose(found.gains, GAINS, rtol=0.01)
    assert np.all(np.abs(found.gains - GAINS) < 4.0 * found.deviations)
    assert found.warnings == ()
    assert [row['joint'] for row in found.to_dict()['gains']] == list(robot.joint_names)


def test_right_gains_are_one_and_scale_with_the_mass(robot, recordings):
    found = identify_drive_gains(robot, *recordings, 2.0)
    np.testing.assert_allclose(found.gains, 1.0, rtol=0.01)
    heavier = identify_drive_gains(robot, *recordings, 3.0)
    np.testing.assert_allclose(heavier.gains, 1.5 * found.gains, rtol=1e-5)


def test_a_wrong_sign_is_named(robot, recordings):
    flipped = GAINS * [1, -1, 1, 1, 1, 1]
    unloaded, loaded = (wrong(data, flipped) for data in recordings)
    found = identify_drive_gains(robot, unloaded, loaded, 2.0)
    assert len(found.warnings) == 1
    assert "'joint_2'" in found.warnings[0]
    assert 'sign error' in found.warnings[0]


def test_no_load_and_no_mass_are_refused(robot, recordings):
    with pytest.raises(DataError, match='load is too small'):
        identify_drive_gains(robot, recordings[0], record(robot, seed=23), 0.001)
    with pytest.raises(OptionError, match='mass'):
        identify_drive_gains(robot, *recordings, -1.0)
