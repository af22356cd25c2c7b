"""Short motions of robots that no choice was made with: what moved the estimates."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id.data.signals.processing import Processing
from robot_id.methods import registry
from robot_id.regression.preprocessing.alignment import align
from robot_id.regression.preprocessing.resolve import resolve
from robot_id.regression.preprocessing.torque_delay import TimeOffset
from robot_id.studies.campaign.world import known_robot, recording
from robot_id.tasks import record

QUIET = {'encoder_step': 0.0, 'torque_std': 0.0}


def experiment(entry, seed=0, **noise):
    """Return the robot and a recording of 4 s of a random trajectory."""
    own = {'encoder_step': None, 'position_std': None, 'torque_std': None}
    cell = {
        'robots': entry,
        'motions': {'motion': 'random', 'seconds': 4.0, 'seed': 3},
        'noise': {**own, 'colour': 0.0, 'missed': 0.0, **noise},
        'rates': None,
        'controller': {'knowledge': 'exact', 'bandwidth': 1.0, 'delay': 0},
        'seed': seed,
        'friction': None,
        'starts': None,
    }
    return known_robot(cell), recording(cell)


def arm(seed, joints):
    return {'random': seed, 'joints': joints}


@pytest.mark.parametrize('entry', [arm(0, 2), arm(3, 2), arm(0, 3)])
def test_friction_at_the_reversals_is_no_time_offset(entry):
    # Without noise: the hold of the loop, half a millisecond, and nothing else.
    robot, data = experiment(entry, **QUIET)
    found = align(robot, data, 'auto').offset
    assert 1e3 * found.seconds == pytest.approx(-0.5, abs=0.05)
    assert found.held
    truth = robot.truth()
    values = registry.create('idim_wls', {}).estimate(robot, data).values
    assert np.linalg.norm(values - truth) < 1e-4 * np.linalg.norm(truth)


def test_friction_at_the_reversals_does_not_choose_the_cutoff():
    robot, data = experiment(arm(3, 2), **QUIET)
    assert resolve(robot, data).processing.cutoff_hz > 80.0


def test_an_offset_is_the_hold_zero_both_or_itself():
    def offset(seconds, deviation):
        return TimeOffset(seconds, deviation, 1e-3, 0.0)

    sure = offset(-0.55e-3, 0.05e-3)
    assert sure.held
    assert sure.used == (0.0, 0.0)
    # Far from zero, and the hold is within three deviations.
    assert offset(-1.5e-3, 0.4e-3).held
    # Held for half of a sample: a controller of twice the rate of the recording.
    assert offset(-0.25e-3, 0.05e-3).used == (-0.25e-3, 0.05e-3)
    # Not significant: corrected all the same, drawn to the middle of what is possible.
    assert offset(0.0, 0.05e-3).used == pytest.approx((-0.01e-3, 0.049e-3), rel=0.05)
    assert offset(3e-3, 0.1e-3).used == (3e-3, 0.1e-3)
    unsure = offset(-0.1e-3, 0.25e-3)
    assert unsure.undecided
    assert not unsure.held
    # The mean of -0.1 and -0.25 with equal weights.
    assert unsure.used == pytest.approx((-0.175e-3, 0.25e-3 / np.sqrt(2.0)))
    # Nothing can be seen: the middle, and the truth on either side of it.
    assert offset(2e-3, 1.0).used == pytest.approx((-0.25e-3, 0.25e-3), rel=1e-4)


@pytest.mark.parametrize('method', ['idim_wls', 'idim_iv'])
def test_the_deviation_of_an_undecided_offset_counts(method):
    robot, data = experiment({'robot': 'emps'}, 51004, encoder_step=3.0, torque_std=3.0)
    slope = align(robot, data, 'auto').row_slope
    offset = align(robot, data, slope).offset
    assert offset.undecided
    # A given law of friction leaves no doubt about it.
    found = registry.create(method, {'coulomb_slope': slope}).estimate(robot, data)
    taken = found.options['torque_delay_s']
    assert taken == pytest.approx(offset.used[0])
    same = {key: found.options[key] for key in ('cutoff_hz', 'decimation', 'coulomb_slope')}

    def given(seconds):
        options = {**same, 'torque_delay_s': seconds}
        return registry.create(method, options).estimate(robot, data)

    # What the estimate moves by when the offset does, added to what the residual says.
    known = given(taken)
    moved = (given(taken + 0.1e-3).values - given(taken - 0.1e-3).values) / 0.2e-3
    own = known.std if method == 'idim_iv' else plain(known, robot, data, same, taken)
    expected = np.hypot(own, offset.used[1] * moved)
    np.testing.assert_allclose(found.std, expected, rtol=0.03)
    assert found.std[1] > 1.15 * own[1]


def test_a_law_that_is_not_told_from_the_other_widens_the_friction():
    robot, data = experiment({'robot': 'emps'}, 51004, encoder_step=3.0, torque_std=3.0)
    alignment = align(robot, data, 'auto')
    doubt = alignment.law_doubt
    M, v, c = (robot.base.names.index(name) for name in ('M1', 'Fv1', 'Fc1'))
    # The tail of the other law stands in Coulomb and viscous friction, with opposite signs.
    assert doubt[v, c] < -0.8 * np.sqrt(doubt[v, v] * doubt[c, c])
    assert np.sqrt(doubt[M, M]) / robot.truth()[0] < 1e-3
    auto, given = (
        registry.create('idim_wls', {'coulomb_slope': slope}).estimate(robot, data)
        for slope in ('auto', alignment.row_slope)
    )
    expected = np.sqrt(given.std**2 + np.diag(doubt))
    np.testing.assert_allclose(auto.std, expected, rtol=0.02)


@pytest.mark.parametrize('width', [0.0, 0.3])
def test_friction_that_is_soft_around_rest_widens_its_intervals(scara, width):
    """Friction of joint 2 grows up to a speed before it is Coulomb friction, or it does not."""
    data = record(scara, seed=31)
    run, names = data.runs[0], scara.base.names
    dq = np.gradient(run.position[:, 1], run.step)
    Fc, torque = scara.truth()[names.index('Fc2')], run.torque.copy()
    if width:
        torque[:, 1] -= Fc * np.sign(dq) * np.maximum(1.0 - np.abs(dq) / width, 0.0)
    soft = replace(data, runs=(replace(run, torque=torque),))
    found = registry.create('idim_wls', {}).estimate(scara, soft)
    slope = found.options['coulomb_slope']
    sure = registry.create('idim_wls', {'coulomb_slope': slope}).estimate(scara, soft)
    z = (found.values - scara.truth()) / found.std
    assert np.abs(z).max() < 3.0
    wider = dict(zip(names, found.std / sure.std))
    if width:
        assert wider['Fc2'] > 3.0
        assert wider['Fc2'] > 2.0 * wider['Fc1']
    else:
        assert max(wider.values()) < 1.3


def plain(known, robot, data, same, taken):
    """Return the deviations of least squares without any freedom of a given offset."""
    from robot_id.regression.rows.observation import Observation
    from robot_id.regression.solvers.system import System
    from robot_id.regression.uncertainty.standard_errors import (
        least_squares_covariance,
        weighted_rows,
    )

    options = {key: same[key] for key in ('cutoff_hz', 'decimation')}
    rows = resolve(
        robot, data, same['coulomb_slope'], Processing(torque_delay_s=taken, **options)
    ).processing
    observation = Observation(robot, data, rows, same['coulomb_slope'], free=True)
    weights = System(observation.factors()).joint_weights()[0]
    G, Y = weighted_rows(observation, np.ones(len(known.values), bool), weights)
    count = len(Y[0])
    back = np.sqrt(count / (count - observation.taken))
    residual = [back * (y - g[:, :, :-1] @ known.values) for g, y in zip(G, Y)]
    return np.sqrt(np.diag(least_squares_covariance([g[:, :, :-1] for g in G], residual)))


def test_rows_of_torques_hold_no_more_than_the_filtered_motion():
    robot, data = experiment({'robot': 'emps'}, 51003, colour=0.9)
    options = registry.create('idim_iv', {}).estimate(robot, data).options
    assert options['cutoff_hz'] < 20.0
    # Within a tenth: enough rows of a joint count more than the last of the band.
    assert 0.4 * data.rate / options['decimation'] <= 0.2 * options['cutoff_hz'] * 1.1


@pytest.mark.parametrize('method', ['idim_wls', 'idim_iv', 'didim'])
def test_intervals_cover(method):
    inside = []
    for entry in (arm(0, 2), arm(3, 2), arm(0, 3)):
        for seed in range(4):
            robot, data = experiment(entry, seed)
            found = registry.create(method, {}).estimate(robot, data)
            inside.append(np.abs(found.values - robot.truth()) < 1.96 * found.std)
    assert np.mean(np.concatenate(inside)) > 0.9


def test_an_encoder_that_shakes_a_joint_where_it_turns_does_not_move_didim():
    errors = []
    for seed in range(6):
        robot, data = experiment(arm(0, 3), seed)
        found = registry.create('didim', {}).estimate(robot, data)
        errors.append(((found.values - robot.truth()) / found.std)[1:3])
    # Fv1 and Fc1 were 1.7 and 2.2 deviations off in the mean.
    assert np.all(np.abs(np.mean(errors, axis=0)) < 1.0)
