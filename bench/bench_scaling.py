"""Cost against the number of samples (1 k to 1 M) and against the number of joints (1 to 12)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.figure import Figure, in_turns, processor_seconds
from robot_id import data, dynamics
from robot_id.control import tune
from robot_id.data import Dataset, Run
from robot_id.data.signals.processing import Processing
from robot_id.dynamics import simulate
from robot_id.methods.closed_loop.didim import Didim
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.methods.kalman.ekf import ExtendedKalmanFilter
from robot_id.methods.recursive.recursive_ls import RecursiveLeastSquares
from robot_id.robot import Robot, RobotDescription, build_robot, load_robot
from robot_id.tasks import record
from robot_id.trajectory.random import random_trajectory

COUNTS = (1_000, 10_000, 100_000, 1_000_000)
JOINTS = (1, 2, 3, 4, 6, 8, 10, 12)
RATE = 1000.0


def arm(n: int) -> Robot:
    """Return a serial arm of n joints whose axes turn by 90 degrees from one to the next."""
    table = [
        {'alpha': np.pi / 2 * (j % 3 - 1), 'd': 0.15 * (j % 2), 'r': 0.25 * (j % 3 == 2)}
        for j in range(n)
    ]
    joints = [
        {
            'name': f'joint_{j + 1}',
            'friction': ['viscous', 'coulomb'],
            'limits': {
                'position': [-2.0, 2.0], 'velocity': 4.0, 'acceleration': 30.0, 'torque': 500.0
            },
        }
        for j in range(n)
    ]  # fmt: skip
    content = {
        'name': f'arm of {n}',
        'mdh': table,
        'joints': joints,
        'coulomb_slope': 20.0,
        'loops': {
            'default': {
                'law': 'pd', 'bandwidth': [60.0] * n, 'damping': [1.0] * n, 'rate_hz': RATE
            }
        },
    }  # fmt: skip
    return build_robot(RobotDescription.model_validate(content), Path())


def plausible(robot: Robot) -> np.ndarray:
    """(b,) base values of slim links that become lighter towards the tool."""
    values = {}
    for j in range(robot.n):
        m, length = 8.0 * 0.7**j, 0.25
        inertia = m * length**2 / 6.0
        values |= {f'{name}{j + 1}': inertia for name in ('XX', 'YY', 'ZZ')}
        values |= {f'M{j + 1}': m, f'MX{j + 1}': 0.2 * m * length, f'Ia{j + 1}': 0.3 * 0.8**j}
        values |= {f'Fv{j + 1}': 2.0 * 0.8**j, f'Fc{j + 1}': 3.0 * 0.8**j}
    standard = np.array([values.get(name, 0.0) for name in robot.standard_names])
    return robot.base.from_standard(standard)


def recorded(robot: Robot, chi: np.ndarray, samples: int) -> Dataset:
    """Return samples of a random trajectory, ten seconds of it again and again, with noise."""
    t = np.arange(min(samples, 10_000)) / RATE
    q, dq, ddq = random_trajectory(robot.limits, 10.0).sample(t)
    tau = dynamics.inverse_dynamics(robot, chi, q, dq, ddq)
    q, dq, tau = (np.tile(x, (-(-samples // len(t)), 1)) for x in (q, dq, tau))
    tau += 0.01 * np.random.default_rng(0).normal(size=tau.shape)
    run = Run(np.arange(samples) / RATE, q[:samples], tau[:samples], dq[:samples])
    return Dataset(robot.joint_names, (run,))


def _curve(
    name: str, curve: str, at: float, samples: int, work: Callable[[], object], repeats: int = 3
) -> Figure:
    """Return the microseconds per sample of a work, one long run or the median of some."""
    work()
    long = samples >= 100_000
    seconds = processor_seconds(work) if long else in_turns({name: work}, repeats)[name]
    return Figure(name, 1e6 * seconds / samples, 'us/sample', curve=curve, at=at)


def bench_samples() -> list[Figure]:
    """TX40 at 1 kHz: reading a bag, weighted least squares, simulation, DIDIM, EKF."""
    robot = load_robot('tx40')
    chi, loop = robot.truth(), robot.loop('one_khz')
    law = tune(robot, loop)
    figures: list[Figure] = []
    for N in COUNTS:
        measured = recorded(robot, chi, N)

        def add(name: str, work: Callable[[], object], N: int = N) -> None:
            figures.append(_curve(name, 'samples', N, N, work))

        with tempfile.TemporaryDirectory() as folder:
            bag = data.save(measured, Path(folder) / 'bag')
            add('read a bag', lambda b=bag: data.load(b))
        decimation = Processing(decimation=5 if N < 10_000 else 20)
        wls = IdimWls(processing=decimation)
        add('WLS', lambda m=measured, w=wls: w.estimate(robot, m))
        if N > 100_000:
            continue
        reference = random_trajectory(robot.limits, N / RATE).sampled(RATE)
        add('closed-loop simulation', lambda r=reference: simulate(robot, chi, r, law))
        loop_data = record(robot, reference, seed=1, loop=loop)
        didim = Didim(processing=decimation, loop='one_khz')
        if N > 1_000:
            add('DIDIM', lambda m=loop_data, d=didim: d.estimate(robot, m))
        if N <= 10_000:
            q, tau = loop_data.runs[0].position, loop_data.runs[0].torque
            add('EKF', lambda q=q, tau=tau: _ekf(robot, chi).update(q, tau))
    return figures


def bench_joints() -> list[Figure]:
    """Serial arms: regressor, dynamics, simulation, WLS, EKF and RLS for each sample."""
    figures: list[Figure] = []
    N = 10_000
    for n in JOINTS:
        robot = arm(n)
        chi = plausible(robot)
        measured = recorded(robot, chi, N)
        reference = random_trajectory(robot.limits, N / RATE).sampled(RATE)
        q, dq, ddq = reference.position, reference.velocity, reference.acceleration
        law = tune(robot, robot.loop('default'), chi)
        wls = IdimWls(processing=Processing(decimation=20))

        def add(name: str, work: Callable[[], object], samples: int = N, n: int = n) -> None:
            figures.append(_curve(name, 'joints', n, samples, work))

        # The compiled functions do not outlive this turn of the loop.
        add('regressor', lambda: dynamics.regressor(robot, q, dq, ddq))  # noqa: B023
        add('inverse dynamics', lambda: dynamics.inverse_dynamics(robot, chi, q, dq, ddq))  # noqa: B023
        add('direct dynamics', lambda: dynamics.direct_dynamics(robot, chi, q, dq, ddq))  # noqa: B023
        add('closed-loop simulation', lambda: simulate(robot, chi, reference, law))  # noqa: B023
        add('WLS', lambda: wls.estimate(robot, measured))  # noqa: B023
        few = 300
        tau = dynamics.inverse_dynamics(robot, chi, q, dq, ddq, 20.0)
        add('EKF', lambda: _ekf(robot, chi).update(q[:few], tau[:few]), few)  # noqa: B023
        W = dynamics.regressor(robot, q[:few], dq[:few], ddq[:few])
        add('RLS', lambda: _rls(robot, chi, W, tau[:few]), few)  # noqa: B023
        figures.append(Figure('base parameters', len(robot.base), '', curve='joints', at=n))
    return figures


def _ekf(robot: Robot, chi: np.ndarray) -> ExtendedKalmanFilter:
    spread = 0.05 * np.maximum(np.abs(chi), 0.01)
    options = {'process_std': 0.05, 'measurement_std': 1e-4, 'state_std': 0.1}
    return ExtendedKalmanFilter(robot, 1.0 / RATE, chi, spread, coulomb_slope=20.0, **options)


def _rls(robot: Robot, chi: np.ndarray, W: np.ndarray, tau: np.ndarray) -> None:
    scale = np.maximum(np.abs(chi), 0.01)
    noise = np.full(robot.n, 0.05)
    estimator = RecursiveLeastSquares(robot.base.names, scale=scale, start=chi, noise=noise)
    for row, y in zip(W, tau):
        estimator.update(row, y)
