"""EKF against the plain filter, the three starts of paper 004, and the sigma-point filter."""

import numpy as np
import pytest

from robot_id.data.dataset import Dataset
from robot_id.dynamics import Disturbances
from robot_id.exceptions import IdentificationError, OptionError
from robot_id.methods.kalman.ekf import Ekf, ExtendedKalmanFilter
from robot_id.methods.kalman.square_root import correct
from robot_id.methods.kalman.ukf import Ukf, UnscentedKalmanFilter
from robot_id.robot import load_robot
from robot_id.tasks import dataset_of, perform
from robot_id.tasks.recording import record
from robot_id.trajectory import Quintic

ROBOT = 'scara'

STEP = 0.01
# Paper 004, section 5.2: variances of [dq q chi], of the measurement and of the process.
ROUGH = {
    'start_values': (1, 1e-3, 1e-1, 1e-1, 1e-1, 1e-3, 1e-3, 1e-1),
    'parameter_std': tuple(np.sqrt([10.0, 1, 1, 1, 1, 1, 1, 1])),
    'state_std': np.sqrt(10),
    'measurement_std': tuple(np.sqrt([1e-3, 1e-2])),
    'process_std': 0.1,
}
GOOD = {
    'start_values': (3.47, 1e-3, 0.4, 0.063, 0.125, 1e-3, 0.014, 0.13),
    'parameter_std': tuple(np.sqrt([1e-3, 1, 1e-3, 1e-3, 1e-3, 1, 1e-3, 1e-3])),
    'state_std': np.sqrt(10),
    'measurement_std': tuple(np.sqrt([1e-4, 1e-2])),
    'process_std': 0.01,
}


def recording(robot, seed, seconds=30.0, move=0.6):
    """100 Hz, quintics between random stops, under joint PD control, noise of the robot file."""
    rng = np.random.default_rng(seed)
    moves = round(seconds / move)
    way = np.zeros((moves + 1, 2))
    way[1:-1] = rng.uniform(-1, 1, (moves - 1, 2)) * [1.2, 2.0]
    loop = robot.loop().model_copy(update={'rate_hz': 1 / STEP})
    return perform(robot, Quintic(way, np.full(moves, move)), seed, loop=loop)


def dataset(robot, seed=0, **options):
    return dataset_of(robot, recording(robot, seed, **options))


def errors(result, robot):
    """Relative errors of ZZ1R, ZZ2R and LMX2."""
    index = [robot.base.index(name) for name in ('ZZ1R', 'ZZ2R', 'LMX2')]
    return np.abs(result.values[index] / robot.truth()[index] - 1)


class PlainEkf(ExtendedKalmanFilter):
    """The textbook filter with an unfactorised covariance: the oracle."""

    def _restart(self, P):
        super()._restart(P)
        n2 = 2 * self.n
        self.P = np.zeros((self.model.size,) * 2)
        self.P[:n2, :n2] = np.diag(self.state_std**2)
        self.P[n2:, n2:] = P

    def _filter(self, Q, acting):
        n, n2, size = self.n, 2 * self.n, self.model.size
        noise = np.diag(np.concatenate([self.process_std, self.drift_std]) ** 2)
        C = np.zeros((n, size))
        C[:, n:n2] = np.eye(n)
        for y, tau in zip(Q, acting):
            self.z, top = self.model.advance(self.z, tau)
            F = np.eye(size)
            F[:n2] = top
            self.P = F @ self.P @ F.T + noise
            S = C @ self.P @ C.T + np.diag(self.measurement_std**2)
            K = np.linalg.solve(S, C @ self.P).T
            self.z = self.z + K @ (y - C @ self.z)
            self.P = self.P - K @ C @ self.P
        return len(Q)


@pytest.mark.parametrize('drift', [0.0, 1e-3])
@pytest.mark.parametrize('discretisation', ['euler', 'midpoint', 'cut'])
def test_factorised_equals_plain(robot, drift, discretisation):
    run = recording(robot, 0, seconds=3.0)
    options = {
        'process_std': 0.1,
        'measurement_std': 0.03,
        'drift_std': drift,
        'discretisation': discretisation,
    }
    start, spread = 1.2 * robot.truth(), 0.3 * robot.truth()
    ours = ExtendedKalmanFilter(robot, STEP, start, spread, **options)
    plain = PlainEkf(robot, STEP, start, spread, **options)
    for each in (ours, plain):
        assert each.update(run.measured_position, run.measured_torque)
    assert np.allclose(ours.z, plain.z, rtol=1e-8, atol=1e-8)
    assert np.allclose(ours.covariance, plain.P[4:, 4:], rtol=1e-6, atol=1e-8)
    assert ours.moved_back == 0


def test_stays_positive_where_the_plain_one_does_not(robot):
    run = recording(robot, 0, seconds=6.0)
    options = {'process_std': 1e-6, 'measurement_std': 1e-7, 'state_std': 1e3}
    start, spread = robot.truth(), np.full(8, 1e3)
    ours = ExtendedKalmanFilter(robot, STEP, start, spread, **options)
    plain = PlainEkf(robot, STEP, start, spread, **options)
    lowest = []
    for k in range(60):
        assert ours.update(run.measured_position[k], run.measured_torque[k])
        try:
            plain.update(run.measured_position[k], run.measured_torque[k])
            lowest.append(np.linalg.eigvalsh(plain.P).min())
        except Exception:  # the plain one may also lose M(q), or its numbers
            lowest.append(-1.0)
            break
    assert min(lowest) < 0.0
    assert np.all(ours._d > 0.0)


def test_block_and_samples_agree(robot):
    run = recording(robot, 1, seconds=1.2)
    block, single = (
        ExtendedKalmanFilter(robot, STEP, robot.truth(), 0.1, process_std=0.05) for _ in range(2)
    )
    q, tau = run.measured_position, run.measured_torque
    block.update(q[:2], tau[:2])
    single.update(q[:2], tau[:2])  # the first two samples set position and velocity
    block.update(q[2:], tau[2:])
    for k in range(2, len(q)):
        single.update(q[k], tau[k])
    assert np.array_equal(block.estimate, single.estimate)
    assert block.samples == single.samples == len(q)


@pytest.mark.parametrize('method', [Ekf, Ukf])
def test_no_a_priori_is_flagged(robot, method):
    data = dataset(robot, seconds=3.0)
    with pytest.raises(IdentificationError, match=r'not positive definite.*start=good'):
        method(start='none', process_std=0.1, measurement_std=0.03).estimate(robot, data)


@pytest.mark.parametrize('seed', [0, 1])
def test_rough_a_priori_within_10_percent(robot, seed):
    result = Ekf(**ROUGH).estimate(robot, dataset(robot, seed))
    assert result.converged
    assert np.all(errors(result, robot) < 0.10)
    assert result.extras['moved_back'] == 0


@pytest.mark.parametrize('seed', [0, 1, 3])
def test_rough_a_priori_in_one_pass_with_noise_from_the_data(robot, seed):
    options = {key: ROUGH[key] for key in ('start_values', 'parameter_std')}
    result = Ekf(passes=1, **options).estimate(robot, dataset(robot, seed))
    assert np.all(errors(result, robot) < 0.10)


def test_rough_a_priori_in_a_single_long_pass(robot):
    result = Ekf(passes=1, **ROUGH).estimate(robot, dataset(robot, 0, seconds=100.0))
    assert np.all(errors(result, robot) < 0.10)
    track = np.array(result.extras['track'][0]['parameters'])
    assert track.shape[1] == 8
    assert np.allclose(track[-1], result.values)


@pytest.mark.parametrize('seed', [0, 1])
def test_good_a_priori_within_5_percent(robot, seed):
    result = Ekf(passes=1, **GOOD).estimate(robot, dataset(robot, seed, seconds=20.0, move=1.0))
    assert np.all(errors(result, robot) < 0.05)


def test_euler_of_the_paper_works_too(robot):
    result = Ekf(discretisation='euler', **ROUGH).estimate(robot, dataset(robot, 2))
    assert np.all(errors(result, robot) < 0.10)


@pytest.mark.parametrize('method', [Ekf, Ukf])
def test_defaults_start_from_wls_and_stay_close(robot, method):
    result = method(passes=1).estimate(robot, dataset(robot, 3, seconds=10.0))
    assert np.all(errors(result, robot) < 0.03)
    assert result.relative_error_percent < 10
    assert result.method == method.name


def test_sigma_points_agree_with_the_linearisation_when_errors_are_small(robot):
    run = recording(robot, 4, seconds=2.0)
    start, spread = 1.02 * robot.truth(), 0.01 * robot.truth()
    options = {'process_std': 0.01, 'measurement_std': 1e-3, 'state_std': 1e-3}
    ekf = ExtendedKalmanFilter(robot, STEP, start, spread, **options)
    ukf = UnscentedKalmanFilter(robot, STEP, start, spread, **options)
    for each in (ekf, ukf):
        assert each.update(run.measured_position, run.measured_torque)
    deviation = np.sqrt(np.diag(ekf.covariance))
    assert np.all(np.abs(ekf.estimate - ukf.estimate) < 0.1 * deviation)
    assert np.allclose(np.sqrt(np.diag(ukf.covariance)), deviation, rtol=0.05)


def test_sigma_point_root_is_the_covariance(robot):
    """A purely linear update: square-root and plain form agree."""
    ukf = UnscentedKalmanFilter(robot, STEP, robot.truth(), 0.1, measurement_std=0.2)
    ukf.z[2:4] = [0.1, 0.2]
    P = ukf._S @ ukf._S.T
    C = np.zeros((2, 12))
    C[:, 2:4] = np.eye(2)
    K = P @ C.T @ np.linalg.inv(C @ P @ C.T + 0.04 * np.eye(2))
    expected = ukf.z + K @ (np.ones(2) - ukf.z[2:4])
    correct(ukf.z, ukf._S, np.ones(2), ukf.measurement_std)
    assert np.allclose(ukf.z, expected)
    assert np.allclose(ukf._S @ ukf._S.T, P - K @ C @ P)


def test_samples_that_are_not_finite_are_refused(robot):
    run = recording(robot, 0, seconds=1.2)
    q = run.measured_position.copy()
    q[50, 1] = np.nan
    kalman = ExtendedKalmanFilter(robot, STEP, robot.truth(), 0.1, process_std=0.1)
    assert not kalman.update(q, run.measured_torque)
    assert not kalman.failure
    assert kalman.rejected == 1
    assert np.all(np.isfinite(kalman.estimate))
    assert kalman.samples == len(q) - 1


def test_failure_gives_no_estimate(robot):
    kalman = ExtendedKalmanFilter(robot, STEP, np.zeros(8), 1.0)
    assert not kalman.update(np.zeros((3, 2)), np.ones((3, 2)))
    assert 'not positive definite' in kalman.failure
    with pytest.raises(IdentificationError, match='better start'):
        _ = kalman.estimate
    assert kalman.status().suspended
    assert kalman.status().live == ()


def test_several_runs_share_the_parameters(robot):
    runs = tuple(recording(robot, seed, seconds=12.0).to_run() for seed in (0, 1))
    both = Ekf(passes=1, **ROUGH).estimate(robot, Dataset(robot.joint_names, runs))
    one = Ekf(passes=1, **ROUGH).estimate(robot, Dataset(robot.joint_names, runs[:1]))
    assert errors(both, robot)[0] < errors(one, robot)[0]
    assert np.all(both.std < one.std)


def test_options_are_checked(robot):
    with pytest.raises(OptionError, match='passes'):
        Ekf(passes=0)
    with pytest.raises(OptionError, match='parameter_std: 3 numbers'):
        Ekf(start='regular', parameter_std=(1.0, 2.0, 3.0)).estimate(
            robot, dataset(robot, seconds=1.2)
        )
    with pytest.raises(OptionError, match='start_values'):
        Ekf(start_values=(1.0,)).estimate(robot, dataset(robot, seconds=1.2))


def test_a_rate_that_leaves_no_samples_is_one_line():
    robot = load_robot('scara')
    with pytest.raises(IdentificationError, match='raise highest_rate_hz'):
        Ekf(highest_rate_hz=0.05, start='regular').estimate(robot, dataset(robot, 0))


def test_noise_of_the_torques_in_the_slopes_moves_the_inertia():
    """Longer steps average the torques in the slopes d ddq/d chi: errors in variables."""
    robot = load_robot('emps')
    noise = robot.description.noise
    step, errors = np.array(noise.encoder_step), {}
    for rate in (1000.0, Ekf.highest_rate_hz):
        found = []
        for seed in range(3):
            disturbed = Disturbances(encoder_step=step, torque_std=np.array([60.0]), seed=seed)
            data = record(robot, disturbances=disturbed)
            found.append(Ekf(highest_rate_hz=rate).estimate(robot, data)['M1'])
        errors[rate] = np.mean(found) / robot.truth()[0] - 1.0
    print('M1 off by', errors)
    assert errors[1000.0] > 0.05
    assert abs(errors[Ekf.highest_rate_hz]) < 0.6 * errors[1000.0]
