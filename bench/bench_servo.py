"""A torque-free fit beside CMA-ES: simulations for the same error of the same model and data."""

from __future__ import annotations

import importlib.util
import time

import numpy as np

from bench.figure import Figure
from robot_id.methods import registry
from robot_id.methods.torque_free.fit import fit
from robot_id.methods.torque_free.servo_oe import ServoOe

# CMA-ES has arrived when its error is within this factor of that of the fit.
SAME = 1.01
# It gives up after so many times the simulations of the fit, and the figure is a lower bound.
MOST = 400
# Its first step, in natural logarithms or scales of the unknowns.
SIGMA = 0.3
SEED = 3


def bench_cma_es() -> list[Figure]:
    """Six position servos that MuJoCo simulated: Gauss-Newton against CMA-ES, from one start."""
    for name in ('cma', 'mujoco'):
        if importlib.util.find_spec(name) is None:
            print(f'servo: left out, no package {name}: pip install {name}')
            return []
    import cma

    from tools import servo_study

    robot = servo_study.robot_of()
    recording = servo_study.simulate(SEED, 50.0, seconds=4.0)
    method = registry.create('servo_oe', servo_study.options(0.005))
    assert isinstance(method, ServoOe)
    problem = method.problem(robot, recording, free_start=False, informed=True)
    fit(problem, 'linear')  # compiles
    began, before = time.process_time(), problem.simulations
    found = fit(problem, 'linear')
    seconds, own = time.process_time() - began, problem.simulations - before
    reached = float(np.sqrt(np.mean(np.concatenate(found.residuals) ** 2)))

    def error(x: np.ndarray) -> float:
        answer = problem.simulate(np.asarray(x), 0, sensitive=False)
        rho = 10.0 if answer is None else answer[0] - problem.runs[0].measured
        return float(np.sqrt(np.mean(np.square(rho))))

    low, high = problem.bounds()
    start = np.clip(problem.start(), low + 1e-9, high - 1e-9)
    settings = {
        'bounds': [low.tolist(), high.tolist()], 'seed': SEED, 'verbose': -9,
        'maxfevals': MOST * own, 'ftarget': SAME * reached, 'tolfun': 0, 'tolx': 0,
    }  # fmt: skip
    began, before = time.process_time(), problem.simulations
    search = cma.CMAEvolutionStrategy(start, SIGMA, settings)
    search.optimize(error)
    others, spent = problem.simulations - before, time.process_time() - began
    arrived = search.result.fbest <= SAME * reached
    who = 'CMA-ES' if arrived else f'CMA-ES, still at {search.result.fbest / reached:.2f} x'
    size = f'{problem.size} unknowns'
    return [
        Figure(f'simulations of a fit, {size}', own, '', who, others / own, 100.0),
        Figure(f'processor time of a fit, {size}', seconds, 's', who, spent / seconds),
        Figure('RMS position error of the fit', 1e3 * reached, 'mrad'),
    ]
