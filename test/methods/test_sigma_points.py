"""The square-root filters against each other and against the UD-factorised EKF."""

import numpy as np
import pytest

from robot_id.methods.kalman.cdkf import CentralDifferenceKalmanFilter
from robot_id.methods.kalman.ckf import CubatureKalmanFilter
from robot_id.methods.kalman.ekf import ExtendedKalmanFilter
from robot_id.methods.kalman.filter import StateModel
from robot_id.methods.kalman.sigma_points import without
from robot_id.methods.kalman.square_root import lower
from robot_id.methods.kalman.sr_ekf import SquareRootExtendedKalmanFilter
from robot_id.methods.kalman.ukf import UnscentedKalmanFilter
from robot_id.robot import load_robot
from robot_id.tasks import perform
from robot_id.trajectory.default import motion_of

ROBOT = 'scara'

STEP = 0.005
POINTS = [UnscentedKalmanFilter, CentralDifferenceKalmanFilter, CubatureKalmanFilter]
SETTING = {'process_std': 0.01, 'measurement_std': 1e-3, 'state_std': 1e-2}


@pytest.fixture(scope='module')
def run(robot):
    done = perform(robot, motion_of(robot, 'random', 2.0, 3), 1)
    return done.measured_position, done.measured_torque


def filtered(kind, robot, run, spread=0.05, **setting):
    found = kind(robot, STEP, 1.03 * robot.truth(), spread * robot.truth(), **SETTING | setting)
    assert found.update(*run)
    return found


@pytest.mark.parametrize('drift', [0.0, 1e-4])
def test_square_root_and_ud_factors_are_one_filter(robot, run, drift):
    ud = filtered(ExtendedKalmanFilter, robot, run, drift_std=drift)
    root = filtered(SquareRootExtendedKalmanFilter, robot, run, drift_std=drift)
    scale = np.sqrt(np.diag(ud.covariance))
    assert np.all(np.abs(root.estimate - ud.estimate) < 1e-9 * np.abs(ud.estimate))
    assert np.allclose(root.covariance / np.outer(scale, scale),
                       ud.covariance / np.outer(scale, scale), atol=1e-9)  # fmt: skip
    assert root.innovation == pytest.approx(ud.innovation, rel=1e-9)


def test_cubature_is_the_unscented_filter_with_kappa_zero(robot, run):
    class Kappa0(UnscentedKalmanFilter):
        beta = 0.0

        @property
        def spread(self):
            return float(np.sqrt(self.model.size))

    one, other = (filtered(kind, robot, run) for kind in (Kappa0, CubatureKalmanFilter))
    assert one.narrowed == other.narrowed == 0
    assert np.allclose(one.estimate, other.estimate, rtol=1e-12)
    assert np.allclose(one.covariance, other.covariance, rtol=1e-9)


@pytest.mark.parametrize('kind', POINTS)
def test_small_errors_make_all_of_them_the_extended_filter(robot, run, kind):
    ekf = filtered(ExtendedKalmanFilter, robot, run, 1e-4)
    other = filtered(kind, robot, run, 1e-4)
    deviation = np.sqrt(np.diag(ekf.covariance))
    assert np.all(np.abs(other.estimate - ekf.estimate) < 0.02 * deviation)
    assert np.allclose(np.sqrt(np.diag(other.covariance)), deviation, rtol=1e-3)


@pytest.mark.parametrize('kind', POINTS)
def test_covariances_that_are_all_too_wide_do_not_move_the_estimate(robot, kind):
    """
    An extended filter does not know the common scale of Q, R and P0, sigma points should not.

    Friction turns within 1 mrad/s. With velocities that are said to be 20 times as uncertain as
    they are, points on both sides of it would see another friction.
    """
    run = perform(robot, motion_of(robot, 'random', 10.0, 3), 1)
    start, spread = 1.001 * robot.truth(), 0.03 * robot.truth()
    wide = {'process_std': (2e-3, 8e-3, 5e-6, 2e-5), 'measurement_std': 1.4e-3, 'state_std': 1.0}
    wide |= {'coulomb_slope': robot.description.coulomb_slope, 'discretisation': 'cut'}
    found = [
        cls(robot, STEP, start, spread, **wide) for cls in (SquareRootExtendedKalmanFilter, kind)
    ]
    for each in found:
        assert each.update(run.measured_position, run.measured_torque)
    ekf, points = found
    scale = np.sqrt(points.innovation / (2 * points.samples))
    assert scale < 0.1
    deviation = scale * np.sqrt(np.diag(ekf.covariance))
    off = np.abs(points.estimate - ekf.estimate) / deviation
    print(kind.__name__, 'scale', scale, 'off by', np.round(off, 2), 'deviations')
    assert np.all(off < 0.2)


def test_points_that_are_no_robots_are_drawn_closer(robot, run):
    for kind in POINTS:
        wide = filtered(kind, robot, (run[0][:50], run[1][:50]), spread=0.7)
        assert wide.narrowed > 0
        assert np.all(np.isfinite(wide.estimate))


def test_a_share_is_taken_off_a_root():
    rng = np.random.default_rng(1)
    S = np.linalg.cholesky(np.cov(rng.normal(size=(6, 40))))
    v = S @ rng.normal(size=6)
    v *= 0.9 / np.linalg.norm(np.linalg.solve(S, v))
    root = without(S, v)
    assert np.allclose(root @ root.T, S @ S.T - np.outer(v, v))
    assert np.allclose(np.triu(root, 1), 0.0)
    assert without(S, 1.2 / 0.9 * v).size == 0


@pytest.mark.parametrize('columns', [3, 6, 20])
def test_a_root_is_lower_triangular_with_the_same_square(columns):
    factor = np.random.default_rng(2).normal(size=(6, columns))
    factor[2] = 0.0
    S = lower(factor)
    assert np.allclose(S @ S.T, factor @ factor.T)
    assert np.all(np.triu(S, 1) == 0.0)


def test_particles_collapse_before_they_have_learnt_anything():
    """Why there is no particle filter: constant parameters are never drawn anew."""
    robot, count = load_robot('emps'), 5000
    done = perform(robot, motion_of(robot, 'random', 1.0, 3), 1)
    model = StateModel(robot, 0.001)
    rng = np.random.default_rng(0)
    Z = np.tile(np.concatenate([done.velocity[0], done.position[0], robot.truth()]), (count, 1))
    Z[:, 2:] *= 1.0 + 0.1 * rng.normal(size=(count, len(robot.base)))
    weights = np.zeros(count)
    for k in range(200):
        Z = model.advance_many(Z, done.measured_torque[k])
        Z[:, :2] += [1e-5, 1e-8] * rng.normal(size=(count, 2))
        weights += -0.5 * ((done.measured_position[k + 1] - Z[:, 1]) / 1e-7) ** 2
    shares = np.exp(weights - weights.max())
    effective = shares.sum() ** 2 / np.sum(shares**2)
    # 5000 particles, 0.2 s of one axis: a handful is left, of parameters 10 % apart.
    assert effective < 5.0
