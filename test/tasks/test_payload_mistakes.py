"""What goes wrong when a load is weighed is named; what an arm does by itself is no load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_id.exceptions import DataError, DescriptionError, OptionError
from robot_id.robot import Payload, load_robot, payload_parameters
from robot_id.robot.files.drive_gains import write_drive_gains
from robot_id.tasks import record
from robot_id.tasks.drive_gains import identify_drive_gains
from robot_id.tasks.payload import PayloadRequest, identify_payload, identify_payloads
from robot_id.tasks.payload.attachment import Attachment, known_part, last_link
from robot_id.tasks.payload.solution import solve

ROBOT = 'tx40'

LOAD = Payload(2.0, (0.0, -0.03, 0.08), (0.004, 0.0, 0.0, 0.005, 0.0, 0.003))
CAMERA = Payload(1.0, (0.02, 0.0, 0.05), (0.001, 0.0, 0.0, 0.001, 0.0, 0.001))


def recorded(robot, seed, *loads):
    """Return a recording with loads, each a Payload and the joint of its link."""
    chi = robot.truth() + sum(payload_parameters(robot, load, joint) for load, joint in loads)
    return record(robot, seed=seed, parameters=chi, loop='one_khz')


@pytest.fixture(scope='module')
def unloaded(robot):
    return record(robot, seed=31, loop='one_khz')


@pytest.fixture(scope='module')
def loaded(robot):
    return recorded(robot, 32, (LOAD, None))


def near(result, load):
    wanted = np.array([load.mass, *load.centre, *load.inertia])
    return np.all(np.abs(result.values - wanted) < 5.0 * result.deviations)


def test_two_loads_on_two_links_and_two_recordings_at_once(robot, unloaded, loaded):
    both = recorded(robot, 33, (LOAD, None), (CAMERA, 'joint_5'))
    bodies = robot.kinematics.body_names
    places = (last_link(robot), Attachment(bodies.index('joint_5'), name='link 5'))
    found = identify_payloads(
        PayloadRequest(robot, (both,), unloaded, places=places, check=False)
    ).loads
    # As of two links of an arm, some of their parameters act together: those alone are told.
    for one, load in zip(found, (LOAD, CAMERA)):
        told = np.isfinite(one.standard_deviations)
        assert told.sum() >= 3
        off = np.abs(one.standard - load.parameters()) / one.standard_deviations
        assert off[told].max() < 5.0
    twice = identify_payloads(PayloadRequest(robot, (loaded, both), unloaded, check=False))
    assert near(twice.loads[0], LOAD)
    assert len(twice.to_dict()['loads']) == 2
    with pytest.raises(OptionError, match='same link'):
        PayloadRequest(robot, (both,), unloaded, places=(places[0], places[0]))


def test_known_part_is_subtracted(robot, unloaded, loaded, tmp_path):
    part = known_part('0.5,0,0,0.05')
    whole = identify_payload(robot, loaded, unloaded)
    request = PayloadRequest(robot, (loaded,), unloaded, known=part, check=False)
    rest = identify_payloads(request).loads[0]
    assert rest.values[0] == pytest.approx(whole.values[0] - 0.5, abs=1e-9)
    np.testing.assert_allclose(rest.standard, whole.standard - part.standard, atol=1e-9)
    identify_payloads(replace(request, known=None)).save(tmp_path / 'p.json')
    nothing = identify_payloads(
        replace(request, known=known_part(str(tmp_path / 'p.json')))
    ).loads[0]
    assert abs(nothing.values[0]) < 4.0 * nothing.deviations[0]
    with pytest.raises(DataError, match='heavier than all'):
        identify_payloads(replace(request, known=known_part('3,0,0,0.05')))
    with pytest.raises(OptionError, match='known'):
        known_part('1,2')


def test_load_on_another_link_than_the_named_one_is_named(robot, unloaded):
    lower = recorded(robot, 34, (Payload(4.0, (0.1, 0.1, 0.05)), 'joint_3'))
    found = identify_payloads(PayloadRequest(robot, (lower,), unloaded, check=False))
    assert any("'joint_3'" in note and 'flange' in note for note in found.notes), found.notes
    right = recorded(robot, 35, (LOAD, None))
    assert not identify_payloads(PayloadRequest(robot, (right,), unloaded, check=False)).notes


def test_clipped_torques_are_named(robot, unloaded, loaded):
    run = loaded.runs[0]
    bound = 0.5 * np.abs(run.torque).max(axis=0)
    clipped = replace(loaded, runs=(replace(run, torque=np.clip(run.torque, -bound, bound)),))
    found = identify_payloads(PayloadRequest(robot, (clipped,), unloaded))
    assert any('loaded recording' in line and 'satur' in line for line in found.findings), found
    # Clipped rows are left out: what remains weighs the load.
    load = found.loads[0]
    assert abs(load.values[0] - LOAD.mass) < min(3.0 * load.deviations[0], 0.05 * LOAD.mass)


@pytest.mark.parametrize('strategy', ['subtract', 'joint'])
def test_one_recording_given_twice_is_refused(robot, unloaded, loaded, strategy):
    with pytest.raises(DataError, match='are the same recording'):
        identify_payload(robot, unloaded, unloaded, strategy=strategy)
    with pytest.raises(DataError, match='are the same recording'):
        identify_drive_gains(robot, loaded, loaded, 2.0)


def test_swapped_recordings_of_known_mass_are_named_in_one_line(robot, unloaded, loaded):
    found = identify_drive_gains(robot, loaded, unloaded, 2.0)
    assert len(found.warnings) == 1
    assert 'with and without load swapped' in found.warnings[0]


def test_friction_and_offsets_that_drift_are_no_load(robot, unloaded):
    chi = robot.truth() + payload_parameters(robot, LOAD)
    for k, name in enumerate(robot.base.names):
        if name.startswith(('Fv', 'Fc')):
            chi[k] *= 1.3
    run = record(robot, seed=36, parameters=chi, loop='one_khz')
    drifted = replace(run, runs=tuple(replace(r, torque=r.torque + 0.5) for r in run.runs))
    found = identify_payloads(PayloadRequest(robot, (drifted,), unloaded, check=False))
    assert near(found.loads[0], LOAD)
    assert any('friction differs' in note for note in found.notes)


def test_tension_widens_where_the_joints_disagree_and_only_there():
    rng = np.random.default_rng(5)
    A = [rng.normal(size=(400, 4, 3))]
    noise = rng.normal(size=(400, 4))
    plain = solve(A, [noise])
    # An error that goes with the motion, of each joint its own.
    wrong = noise + A[0][:, :, 0] * np.array([0.5, -0.5, 0.5, -0.5])
    tense = solve(A, [wrong])
    ratio = np.diag(tense.covariance) / np.diag(plain.covariance)
    assert ratio[0] > 4.0
    white = np.diag(plain.covariance) * 1600
    assert np.all(white < 2.0)


def test_gains_with_an_unknown_load_and_in_the_robot_file(robot, unloaded, loaded, tmp_path):
    gains = np.array([1.1, 0.9, 1.05, 0.85, 1.2, 0.95])
    other = recorded(robot, 37, (CAMERA, None))

    def wrong(data):
        return replace(data, runs=tuple(replace(r, torque=r.torque / gains) for r in data.runs))

    found = identify_drive_gains(robot, wrong(unloaded), wrong(loaded), 2.0, [wrong(other)])
    np.testing.assert_allclose(found.gains, gains, rtol=0.01)
    np.testing.assert_allclose(found.total, gains, rtol=0.02)
    path = tmp_path / 'mine.yaml'
    write_drive_gains('tx40', dict(zip(found.joint_names, found.written)), path)
    mine = load_robot(path)
    for name, gain in zip(robot.joint_names, found.gains):
        assert mine.drive_gains[name] == pytest.approx(robot.drive_gains[name] * gain, rel=1e-5)
    np.testing.assert_array_equal(mine.truth(), robot.truth())
    with pytest.raises(DescriptionError, match='negative gain'):
        write_drive_gains('tx40', {'joint_1': None}, path)
