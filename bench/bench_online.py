"""
The on-line room's speed: processor time of one core.

One sample of the TX40 (60 parameters, 6 equations) against the millisecond it has at 1 kHz, both
supervision rules against the number of parameters, the Kalman filters against the length of the
recording, the structured time update against the general one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from bench.figure import Figure, generic
from robot_id import dynamics
from robot_id.dynamics import Simulation
from robot_id.methods.kalman import ud_prediction
from robot_id.methods.kalman.ekf import ExtendedKalmanFilter
from robot_id.methods.kalman.filter import KalmanFilter
from robot_id.methods.kalman.ukf import UnscentedKalmanFilter
from robot_id.methods.recursive import ud
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.recursive_iv import RecursiveInstrumentalVariables
from robot_id.methods.recursive.recursive_ls import RecursiveLeastSquares
from robot_id.methods.recursive.supervision import CheapRule, EigenvalueRule
from robot_id.robot import Robot, load_robot
from robot_id.tasks import perform
from robot_id.trajectory import Fourier

SAMPLES, WARM = 3000, 600
PERIOD_US = 1000.0


def each(work: Callable[[int], object], count: int = SAMPLES, warm: int = WARM) -> np.ndarray:
    """Return the processor seconds of every call after the warm-up."""
    taken = np.empty(count)
    for k in range(count):
        start = time.thread_time()
        work(k)
        taken[k] = time.thread_time() - start
    return taken[warm:]


def recording(seconds: int = 10) -> tuple[Robot, Simulation]:
    """Return the TX40, and 1 kHz closed-loop data with the noise of the robot file."""
    robot = load_robot('tx40')
    rng = np.random.default_rng(0)
    size = np.array([0.2, 0.2, 0.25, 0.35, 0.4, 0.5])[:, None] * 0.5
    sine, cosine = (rng.normal(size=(6, 8)) * size for _ in range(2))
    motion = Fourier.at_rest(5.0, np.zeros(6), sine, cosine)
    return robot, perform(robot, motion, seed=1, loop='one_khz', cycles=seconds // 5)


def settings_of(robot: Robot) -> dict[str, object]:
    """Return the settings that all recursive estimators here share."""
    truth = robot.truth()
    scale = np.maximum(np.abs(truth), 0.01)
    return {'scale': scale, 'start': truth, 'noise': np.full(robot.n, 0.05), 'period': 100}


def _against_the_period(works: Mapping[str, Callable[[int], object]]) -> list[Figure]:
    """Return the mean cost of a sample, and how often it fits into a millisecond."""
    figures = []
    for name, work in works.items():
        us = 1e6 * float(each(work).mean())
        figures.append(Figure(name, us, 'us/sample', 'the period at 1 kHz', PERIOD_US / us, 1.0))
    return figures


def bench_updates() -> list[Figure]:
    """One update of the recursive estimators, and the whole identifier as the node feeds it."""
    robot, run = recording()
    W = dynamics.regressor(robot, run.position, run.velocity, run.acceleration)
    y, names, common = run.measured_torque, robot.base.names, settings_of(robot)
    fading = Memory('exponential', 1000)
    ls = {
        'RLS update': {'memory': fading},
        'RLS update, cheap rule at 10 Hz': {'memory': fading, 'supervisor': CheapRule()},
        'RLS update, eigenvalue rule at 10 Hz': {
            'memory': fading, 'supervisor': EigenvalueRule()
        },
        'RLS update, window of 1000': {'memory': Memory('window', 1000)},
    }  # fmt: skip
    works: dict[str, Callable[[int], object]] = {}
    for name, options in ls.items():
        estimator = RecursiveLeastSquares(names, **options, **common)
        works[name] = lambda k, e=estimator: e.update(W[k], y[k])
    iv = RecursiveInstrumentalVariables(names, memory=fading, **common)
    works['RIV update'] = lambda k: iv.update(W[k], y[k], W[k])
    whole = OnlineIdentifier(robot, 1000.0, memory=fading, supervisor=CheapRule(), **common)
    q, tau = run.measured_position, run.measured_torque
    works['on-line identifier, a sample with all'] = lambda k: whole.feed(q[k], tau[k])
    return _against_the_period(works)


def bench_supervision() -> list[Figure]:
    """One verdict of both rules."""
    figures = []
    rng = np.random.default_rng(0)
    for b in (10, 20, 40, 60, 120):
        R = np.asarray(np.linalg.qr(rng.standard_normal((5 * b, b)), mode='r'))
        names, live = tuple(map(str, range(b))), np.ones(b, bool)
        for label, rule in (('eigenvalue', EigenvalueRule()), ('cheap', CheapRule())):
            taken = each(lambda k, r=rule, R=R, n=names, x=live: r.judge(R, 1e-6, n, x), 120, 20)
            us = 1e6 * float(np.median(taken))
            figures.append(Figure(f'{label} rule, a verdict', us, 'us', curve='parameters', at=b))
    return figures


def bench_kalman() -> list[Figure]:
    """Both filters with 72 states against the length of the recording."""
    robot, run = recording()
    start, spread = robot.truth(), 0.05 * np.maximum(np.abs(robot.truth()), 0.01)
    options = {'process_std': 0.05, 'measurement_std': 1e-4, 'state_std': 0.1}

    def microseconds(cls: type[KalmanFilter], count: int) -> float:
        kalman = cls(robot, 1e-3, start, spread, **options)
        q, tau = run.measured_position[:count], run.measured_torque[:count]
        kalman.update(q[:10], tau[:10])
        begin = time.thread_time()
        kalman.update(q[10:], tau[10:])
        return 1e6 * (time.thread_time() - begin) / (count - 10)

    figures = []
    for cls, name, count, limit in (
        (ExtendedKalmanFilter, 'EKF TX40, a sample', len(run.time), 40.0),
        (UnscentedKalmanFilter, 'UKF TX40, a sample', 300, PERIOD_US),
    ):
        us = microseconds(cls, count)
        by_kernels = generic(partial(microseconds, cls, min(count, 1000)))()
        assert isinstance(by_kernels, float)
        figures += [
            Figure(name, us, 'us/sample', 'generic kernels', by_kernels / us),
            Figure(name, us, 'us/sample', 'the period at 1 kHz', PERIOD_US / us),
            Figure(name, us, 'us/sample', f'{limit:g} us', limit / us, 1.0),
        ]
    return figures


def bench_time_update() -> list[Figure]:
    """72 states of which 60 are constant, against the general time update of UD factors."""
    rng = np.random.default_rng(0)
    F = np.eye(72)
    F[:12] += 0.01 * rng.standard_normal((12, 72))
    q = np.zeros(72)
    q[:12] = 1e-4
    L, d = ud.factorise(np.eye(72))
    top = F[:12].copy()
    general = float(np.median(each(lambda k: ud_prediction.predict(L, d, F, q), 300, 30)))
    ours = each(lambda k: ud_prediction.predict_constant_tail(L, d, top, q[:12]), 300, 30)
    us = 1e6 * float(np.median(ours))
    return [Figure('EKF time update, 72 states', us, 'us', 'the general one', 1e6 * general / us)]
