"""Physically consistent parameters: what they cost, and 1000 random robots that are identified."""

from __future__ import annotations

from functools import partial

import numpy as np
import pinocchio as pin

from bench.bench_scaling import arm, plausible
from bench.figure import Figure, in_turns
from robot_id import dynamics
from robot_id.regression.consistency import Fitter
from robot_id.regression.consistency.conic import available
from robot_id.robot import Robot, RobotDescription
from robot_id.robot.kinematics import Kinematics
from robot_id.robot.parameters.inertia import inertia_row

Array = np.ndarray
STUDY = 1000


def random_arm(rng: np.random.Generator, n: int) -> tuple[Robot, Array]:
    """Return a serial arm of random axes and the (s,) standard parameters of random bodies."""
    names = tuple(f'j{i}' for i in range(n))
    axis = rng.normal(size=(n, 3))
    turns = [pin.exp3(rng.normal(size=3)) for _ in range(n)]
    kinematics = Kinematics(
        joint_names=names,
        body_names=names,
        parent=np.arange(n) - 1,
        rotation=np.array(turns),
        translation=rng.uniform(-0.4, 0.4, (n, 3)),
        axis=axis / np.linalg.norm(axis, axis=1, keepdims=True),
        prismatic=rng.random(n) < 0.15,
        dof=np.arange(n),
        ratio=np.ones(n),
        offset=np.zeros(n),
        inertia=np.zeros((n, 10)),
        limits=np.full((n, 4), np.nan),
    )
    joints = [{'name': name, 'rotor_inertia': 'geared'} for name in names]
    content = {'name': 'random', 'urdf': 'none', 'joints': joints}
    robot = Robot(RobotDescription.model_validate(content), kinematics)
    x = np.zeros(len(robot.standard_names))
    for columns in robot.inertial_index:
        points = rng.normal(size=(8, 3)) * rng.uniform(0.02, 0.15, 3) + rng.uniform(-0.2, 0.2, 3)
        masses = rng.exponential(1.0, 8)
        body = pin.Inertia.Zero()
        for m, p in zip(masses, points):
            body = body + pin.Inertia(m, p, 1e-4 * m * np.eye(3))
        x[columns] = inertia_row(body)
    for k, name in enumerate(robot.standard_names):
        if name[:2] in ('Ia', 'Fv', 'Fc', 'Of'):
            x[k] = rng.exponential(0.5) if name[:2] != 'Of' else rng.normal(0, 0.3)
    return robot, x


def noisy(
    robot: Robot, x: Array, rng: np.random.Generator, noise: float = 0.05, samples: int = 300
) -> tuple[Array, Array]:
    """Return W (r, b) and Y (r,) of random states, in units of the noise of each joint."""
    shape = (samples, robot.n)
    states = rng.uniform(-2, 2, shape), rng.normal(0, 1.0, shape), rng.normal(0, 3.0, shape)
    W = dynamics.regressor(robot, *states)
    Y = W @ robot.base.from_standard(x)
    sigma = noise * np.maximum(np.sqrt(np.mean(Y**2, axis=0)), 1e-9)
    Y = Y + sigma * rng.normal(size=Y.shape)
    return (W / sigma[:, None]).reshape(-1, W.shape[-1]), (Y / sigma).ravel()


def identified(seed: int) -> tuple[float, float, float]:
    """
    Return what one random robot of 1 to 8 joints gave.

    The smallest eigenvalue of its pseudo-inertias, the hold-out error of least squares and that of
    the physically consistent parameters, relative to the torque.
    """
    rng = np.random.default_rng(seed)
    robot, x = random_arm(rng, int(rng.integers(1, 9)))
    noise = float(rng.choice([0.01, 0.05, 0.2]))
    W, Y = noisy(robot, x, rng, noise, samples=max(60, 6 * len(robot.base) // robot.n))
    R = np.linalg.qr(np.column_stack([W, Y]), mode='r')
    b = W.shape[1]
    free = np.linalg.lstsq(W, Y, rcond=None)[0]
    fit = Fitter(robot).fit(R[:b, :b], R[:b, b])
    W, Y = noisy(robot, x, rng, noise)
    errors = [float(np.linalg.norm(Y - W @ chi) / np.linalg.norm(Y)) for chi in (free, fit.chi)]
    return float(fit.smallest.min()), errors[0], errors[1]


def bench_random_robots() -> list[Figure]:
    """Identify 1000 random robots from noisy data: all possible, none worse on hold-out."""
    found = np.array([identified(seed) for seed in range(STUDY)])
    ratio = found[:, 2] / found[:, 1]
    possible = float(np.mean(found[:, 0] > 0.0))
    return [
        Figure('random robots that are possible', 100.0 * possible, '%', target=100.0),
        Figure('their hold-out error over that of least squares, mean', float(ratio.mean()), 'x'),
        Figure('their hold-out error over that of least squares, most', float(ratio.max()), 'x'),
    ]


def bench_projection() -> list[Figure]:
    """Time one fit of arms with 6, 7 and 30 joints, by both solvers."""
    figures = []
    for n in (6, 7, 30):
        robot = arm(n)
        x = robot.representative(plausible(robot))
        W, Y = noisy(robot, x, np.random.default_rng(0), samples=20 * len(robot.base) // n)
        R = np.linalg.qr(np.column_stack([W, Y]), mode='r')[:-1]
        solvers = ['newton', 'clarabel'] if available() and n < 30 else ['newton']
        works = {
            solver: partial(Fitter(robot, solver=solver).fit, R[:, :-1], R[:, -1])
            for solver in solvers
        }
        for solver, seconds in in_turns(works, 5).items():
            name = f'physically consistent parameters of {n} joints, {solver}'
            figures.append(Figure(name, 1e3 * seconds, 'ms'))
    return figures
