"""Torques that ask for a negative inertia, as sensors behind the gears of light joints do."""

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import pytest

from robot_id.data import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.dynamics import positive_on_motion
from robot_id.exceptions import IdentificationError, OutOfTimeError
from robot_id.methods.closed_loop import problem as loop_problem
from robot_id.methods.closed_loop.cloe import Clie, Cloe
from robot_id.methods.closed_loop.consistent import consistent_start
from robot_id.methods.closed_loop.didim import Didim
from robot_id.methods.closed_loop.idim_iv import IdimIv
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.methods.kalman.ekf import Ekf
from robot_id.regression.rows.prediction import predict
from robot_id.tasks import record

PAPER = Processing(cutoff_hz=20, decimation=20)
# How much of the second link's inertia the torques lack.
LACKING = 1.5


@pytest.fixture(scope='module')
def whole(scara):
    return record(scara, seed=1)


@pytest.fixture(scope='module')
def lacking(scara, whole):
    """Return the recording without 1.5 times ZZ2 (ddq1 + ddq2) in both torques."""
    run = whole.runs[0]
    inertia = dict(zip(scara.base.names, scara.truth()))['ZZ2R']
    missing = LACKING * inertia * run.reference_acceleration.sum(axis=1, keepdims=True)
    return Dataset(scara.joint_names, (replace(run, torque=run.torque - missing),))


@pytest.fixture(scope='module')
def unknown(scara, lacking):
    """Return the robot without its loops, and the recording without its reference."""
    described = scara.description.model_copy(update={'loops': {}})
    robot = type(scara)(described, scara.kinematics, scara.urdf)
    silent = dict.fromkeys(
        ('reference_position', 'reference_velocity', 'reference_acceleration'), None
    )
    runs = tuple(replace(run, **silent) for run in lacking.runs)
    return robot, replace(lacking, runs=runs)


def off(robot, result):
    """Return how far ZZ2R is from what the torques have of it, in parts of the truth."""
    z = dict(zip(robot.base.names, robot.truth()))['ZZ2R']
    return abs(result['ZZ2R'] - (1.0 - LACKING) * z) / z


def test_iv_takes_its_instrument_from_the_nearest_possible_robot(scara, lacking):
    found = IdimIv(processing=PAPER, fit_loop='never').estimate(scara, lacking)
    assert found.converged
    assert any('nearest physically consistent robot' in line for line in found.warnings)
    assert not positive_on_motion(scara, found.values, [lacking.runs[0].position])
    assert off(scara, found) < 0.1


@pytest.mark.parametrize('method', [IdimIv, Didim])
def test_without_a_loop_the_limit_is_a_rigid_one(unknown, method):
    robot, recorded = unknown
    found = method(processing=PAPER).estimate(robot, recorded)
    assert found.converged
    assert any('perfectly stiff loop' in line for line in found.warnings)
    wls = IdimWls(processing=PAPER).estimate(robot, recorded)
    assert off(robot, found) < 0.1
    assert found.relative_error_percent < 1.5 * wls.relative_error_percent
    possible = method(processing=PAPER, physical=True).estimate(robot, recorded)
    assert possible.converged
    assert positive_on_motion(robot, possible.values, [recorded.runs[0].position])


@pytest.mark.parametrize('method', [Cloe, Clie])
def test_output_errors_need_the_reference(unknown, method):
    """Positions as their own reference are tracked best by a robot that carries nothing."""
    with pytest.raises(IdentificationError, match='needs the reference'):
        method().estimate(*unknown)


def test_the_filter_keeps_a_direct_model(scara, lacking):
    wls = IdimWls().estimate(scara, lacking)
    found = Ekf().estimate(scara, lacking)
    assert found.converged
    assert positive_on_motion(scara, found.values, [lacking.runs[0].position])
    start = consistent_start(scara, wls.values, [lacking.runs[0].position], wls.covariance)
    error = predict(scara, start, lacking, Ekf().processing).relative_error_percent
    assert found.relative_error_percent < 2.0 * error


def test_a_filter_that_leaves_a_good_start_is_set_more_carefully(scara, whole, lacking):
    sound = Ekf().estimate(scara, whole)
    assert not any('first setting' in line for line in sound.warnings)
    careful = Ekf().estimate(scara, lacking)
    assert any('first setting' in line for line in careful.warnings)


def test_the_nearest_possible_robot_still_explains_the_torques(scara, lacking):
    wls = IdimWls(processing=PAPER).estimate(scara, lacking)
    motions = [lacking.runs[0].position]
    assert not positive_on_motion(scara, wls.values, motions)
    errors = {}
    for name, covariance in (('near', wls.covariance), ('regular', None)):
        chi = consistent_start(scara, wls.values, motions, covariance)
        assert positive_on_motion(scara, chi, motions)
        predicted = predict(scara, chi, lacking, PAPER)
        errors[name] = predicted.relative_error_percent
    assert errors['near'] < 3.0 * wls.relative_error_percent
    assert errors['near'] <= errors['regular']


def test_the_time_limit_gives_the_best_so_far(scara, whole, monkeypatch):
    """A clock that counts how often it was asked: the limit falls into the second iteration."""
    ticks = count()
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)))
    monkeypatch.setattr(loop_problem, 'time', clock)
    for method in (Didim, IdimIv):
        found = method(processing=PAPER, fit_loop='never', time_limit_s=2.5).estimate(scara, whole)
        assert not found.converged
        assert found.iterations == 1
        assert any('best so far' in line for line in found.warnings)
    with pytest.raises(OutOfTimeError, match='raise time_limit_s'):
        Didim(processing=PAPER, fit_loop='never', time_limit_s=0.5).estimate(scara, whole)
