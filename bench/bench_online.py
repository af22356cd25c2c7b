"""
The on-line room's speed: processor time of one core, and ratios within one run.

Cost of an update of the TX40 (60 parameters, 6 equations) against the millisecond it has at 1 kHz,
of both supervision rules against n, of the EKF against the length of the recording, of the
structured time update against the general one. Run: python bench/bench_online.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from robot_id import dynamics
from robot_id.control.gains import tune
from robot_id.dynamics.simulation import Disturbances, simulate
from robot_id.model import load_robot
from robot_id.online import ud
from robot_id.online.ekf import ExtendedKalmanFilter
from robot_id.online.identifier import OnlineIdentifier
from robot_id.online.memory import Memory
from robot_id.online.recursive_iv import RecursiveInstrumentalVariables
from robot_id.online.recursive_ls import RecursiveLeastSquares
from robot_id.online.supervision import CheapRule, EigenvalueRule
from robot_id.online.ukf import UnscentedKalmanFilter
from robot_id.trajectory import Fourier

SAMPLES, WARM = 3000, 600


def each(work: Callable[[int], object], count: int = SAMPLES, warm: int = WARM) -> np.ndarray:
    """Return the processor seconds of every call after the warm-up."""
    taken = np.empty(count)
    for k in range(count):
        start = time.thread_time()
        work(k)
        taken[k] = time.thread_time() - start
    return taken[warm:]


def describe(taken: np.ndarray) -> str:
    """Return mean, median and 99th percentile in microseconds."""
    us = 1e6 * taken
    return (
        f'mean {us.mean():6.1f}, median {np.median(us):6.1f}, p99 {np.percentile(us, 99):7.1f} us'
    )


def recording(seconds: int = 10):
    """Return the TX40, and 1 kHz closed-loop data with the noise of the robot file."""
    robot = load_robot('tx40')
    rng = np.random.default_rng(0)
    size = np.array([0.2, 0.2, 0.25, 0.35, 0.4, 0.5])[:, None] * 0.5
    sine, cosine = (rng.normal(size=(6, 8)) * size for _ in range(2))
    motion = Fourier.at_rest(5.0, np.zeros(6), sine, cosine)
    law = tune(robot, robot.loop('one_khz'), robot.truth())
    reference = motion.sampled(1000.0, cycles=seconds // 5)
    noise = Disturbances.of_robot(robot, 1)
    return robot, simulate(robot, robot.truth(), reference, law, disturbances=noise)


def bench_updates(robot, run) -> None:
    """Print the cost of one sample of the estimators and of the whole identifier."""
    truth = robot.truth()
    W = dynamics.regressor(robot, run.position, run.velocity, run.acceleration)
    y, names = run.measured_torque, robot.base.names
    scale, noise = np.maximum(np.abs(truth), 0.01), np.full(6, 0.05)
    common = {'scale': scale, 'start': truth, 'noise': noise, 'period': 100}
    exponential, window = Memory('exponential', 1000), Memory('window', 1000)
    cases = {
        'rls, exponential': (exponential, None),
        'rls, exponential, cheap rule at 10 Hz': (exponential, CheapRule()),
        'rls, exponential, eigenvalue rule at 10 Hz': (exponential, EigenvalueRule()),
        'rls, window': (window, None),
        'rls, constant trace': (Memory('constant_trace', 1000), None),
    }
    print('one sample of the TX40 (60 parameters, 6 equations), one core:')
    for label, (memory, rule) in cases.items():
        estimator = RecursiveLeastSquares(names, memory=memory, supervisor=rule, **common)
        taken = each(lambda k, e=estimator: e.update(W[k], y[k]))
        print(f'  update {label:45s} {describe(taken)}')
    estimator = RecursiveInstrumentalVariables(names, memory=exponential, **common)
    taken = each(lambda k: estimator.update(W[k], y[k], W[k]))
    print(f'  update {"riv, exponential":45s} {describe(taken)}')
    q, tau = run.measured_position, run.measured_torque
    for label, rule in {
        'no supervision': None,
        'cheap rule': CheapRule(),
        'eigenvalue rule': EigenvalueRule(),
    }.items():
        whole = OnlineIdentifier(robot, 1000.0, memory=exponential, supervisor=rule, **common)
        taken = each(lambda k, w=whole: w.feed(q[k], tau[k]))
        print(f'  feed   {"differences, regressor, filter, rls, " + label:45s} {describe(taken)}')


def bench_supervision() -> None:
    """Print the cost of both rules against the number of parameters."""
    print('supervision, one verdict:')
    rng = np.random.default_rng(0)
    sizes, costs = (10, 20, 40, 60, 80, 120), {'eigenvalue': [], 'cheap': []}
    for b in sizes:
        R = np.asarray(np.linalg.qr(rng.standard_normal((5 * b, b)), mode='r'))
        names, live = tuple(map(str, range(b))), np.ones(b, bool)
        for label, rule in (('eigenvalue', EigenvalueRule()), ('cheap', CheapRule())):
            taken = each(lambda k, r=rule, R=R: r.judge(R, 1e-6, names, live), 120, 20)  # noqa: B023
            costs[label].append(np.median(taken))
        ratio = costs['eigenvalue'][-1] / costs['cheap'][-1]
        print(
            f'  n = {b:3d}: eigenvalue {1e6 * costs["eigenvalue"][-1]:8.0f} us, '
            f'cheap {1e6 * costs["cheap"][-1]:6.0f} us, ratio {ratio:5.1f}'
        )
    for label, values in costs.items():
        slope = np.polyfit(np.log(sizes[2:]), np.log(values[2:]), 1)[0]
        print(f'  {label}: grows with n^{slope:.1f} from n = {sizes[2]} on')


def bench_kalman(robot, run) -> None:
    """Print the EKF's and UKF's time beside the length of the recording."""
    start, spread = robot.truth(), 0.05 * np.maximum(np.abs(robot.truth()), 0.01)
    options = {'process_std': 0.05, 'measurement_std': 1e-4, 'state_std': 0.1}
    for cls, count in ((ExtendedKalmanFilter, len(run.time)), (UnscentedKalmanFilter, 300)):
        for discretisation in ('euler', 'midpoint'):
            kalman = cls(robot, 1e-3, start, spread, discretisation=discretisation, **options)
            q, tau = run.measured_position[:count], run.measured_torque[:count]
            kalman.update(q[:10], tau[:10])
            begin = time.thread_time()
            kalman.update(q[10:], tau[10:])
            taken = time.thread_time() - begin
            lasts = (count - 10) * 1e-3
            print(
                f'{cls.__name__}, TX40, 72 states, {discretisation}: {lasts:.1f} s of data in '
                f'{taken:.2f} s, {1e6 * taken / (count - 10):.0f} us a sample, '
                f'{lasts / taken:.1f} times real time'
            )
    rng = np.random.default_rng(0)
    F = np.eye(72)
    F[:12] += 0.01 * rng.standard_normal((12, 72))
    q = np.zeros(72)
    q[:12] = 1e-4
    L, d = ud.factorise(np.eye(72))
    general = np.median(each(lambda k: ud.predict(L, d, F, q), 300, 30))
    top = F[:12].copy()
    ours = np.median(each(lambda k: ud.predict_constant_tail(L, d, top, q[:12]), 300, 30))
    print(f'time update of 72 states: structured {general / ours:.0f} times the general one')


if __name__ == '__main__':
    arm, data = recording()
    bench_updates(arm, data)
    bench_supervision()
    bench_kalman(arm, data)
