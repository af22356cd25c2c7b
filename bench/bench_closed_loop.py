"""The closed-loop simulator against the same loop in Python over pinocchio; DIDIM and CLOE."""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin

from bench.figure import Figure, generic, in_turns
from robot_id.control import tune
from robot_id.data import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.dynamics import Controller, simulate
from robot_id.dynamics.simulation.disturbances import stable_substeps
from robot_id.methods.closed_loop.cloe import Cloe
from robot_id.methods.closed_loop.didim import Didim
from robot_id.robot import Robot, load_robot
from robot_id.tasks import record
from robot_id.trajectory import Reference
from robot_id.trajectory.random import random_trajectory

PAPER_SECONDS, PAPER_SIMULATIONS, PAPER_RATIO = 18.0, 9428, 3000.0


def python_loop(
    robot: Robot, chi: np.ndarray, reference: Reference, law: Controller, substeps: int
) -> np.ndarray:
    """Do the same steps state by state in Python, the dynamics by pinocchio."""
    chi_st = robot.representative(chi)
    model = robot.pinocchio_with(chi_st)
    data = model.createData()
    values, terms, slope = chi_st[robot.term_index], robot.terms, robot.description.coulomb_slope
    rotors, n = np.zeros((robot.n, robot.n)), robot.n
    for k in np.flatnonzero(terms.kind == 0):
        rotors[terms.row[k]] += values[terms.parameter[k]] * terms.gain[k] * terms.direction[k]
    active = np.flatnonzero(terms.kind != 0)
    gains = values[terms.parameter[active]] * terms.gain[active]
    directions, rows, kinds = terms.direction[active], terms.row[active], terms.kind[active]

    def acceleration(q: np.ndarray, dq: np.ndarray, tau: np.ndarray) -> np.ndarray:
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T + rotors
        x = directions @ dq
        shape = np.where(
            kinds == 1, x, np.where(kinds == 2, 2 / np.pi * np.arctan(slope * x), 1.0)
        )
        friction = np.bincount(rows, gains * shape, n)
        return np.linalg.solve(M, tau - pin.nle(model, data, q, dq) - friction)

    h = reference.step / substeps
    q, dq = reference.position[0].copy(), reference.velocity[0].copy()
    before, out = q - reference.step * dq, np.empty_like(reference.position)
    for k in range(len(reference)):
        out[k] = q
        speed = (q - before) / reference.step
        before = q.copy()
        tau = law.kp * law.kv * (reference.position[k] - q)
        tau += law.kv * (reference.velocity[k] - speed)
        tau = np.clip(tau, -law.torque_limit, law.torque_limit)
        for _ in range(substeps):
            a1 = acceleration(q, dq, tau)
            v2 = dq + 0.5 * h * a1
            a2 = acceleration(q + 0.5 * h * dq, v2, tau)
            v3 = dq + 0.5 * h * a2
            a3 = acceleration(q + 0.5 * h * v2, v3, tau)
            v4 = dq + h * a3
            a4 = acceleration(q + h * v3, v4, tau)
            q = q + h / 6 * (dq + 2 * v2 + 2 * v3 + v4)
            dq = dq + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return out


def bench_simulation() -> list[Figure]:
    """TX40, sampled PD at 1 kHz, RK4 with the substeps that its friction asks for."""
    robot = load_robot('tx40')
    loop, chi = robot.loop('one_khz'), robot.truth()
    law = tune(robot, loop)
    motion = random_trajectory(robot.limits, 10.0)
    short = random_trajectory(robot.limits, 0.5, harmonics=4).sampled(loop.rate_hz)
    reference = motion.sampled(loop.rate_hz)
    substeps = stable_substeps(robot, chi, reference.step, robot.description.coulomb_slope)
    ours = simulate(robot, chi, short, law).position
    difference = np.abs(ours - python_loop(robot, chi, short, law, substeps)).max()
    if not difference < 1e-9:
        raise AssertionError(f'the two loops differ by {difference:g}')
    seconds = in_turns(
        {
            'compiled': lambda: simulate(robot, chi, short, law),
            'python': lambda: python_loop(robot, chi, short, law, substeps),
            'whole': lambda: simulate(robot, chi, reference, law),
        },
        repeats=5,
    )
    name = f'closed loop TX40, 1 kHz, {substeps} substeps'
    step, ratio = 1e6 * seconds['compiled'] / len(short), seconds['python'] / seconds['compiled']
    speed = reference.duration / seconds['whole']
    return [
        Figure(name, step, 'us/step', 'Python over pinocchio', ratio, 10.0),
        Figure('closed loop TX40', speed, 'x real time', target=180.0),
    ]


def against_generic(name: str, method: Didim, measured: Dataset, limit_s: float) -> list[Figure]:
    """Return the processor seconds of an identification by generated code, and the ratio."""
    robot = load_robot('tx40')

    def work() -> object:
        return method.estimate(robot, measured)

    seconds = in_turns({'generated': work, 'generic': generic(work)}, repeats=3)
    own = seconds['generated']
    return [
        Figure(name, own, 's of a core', 'generic kernels', seconds['generic'] / own),
        Figure(name, own, 's of a core', f'{limit_s:g} s', limit_s / own, 1.0),
    ]


def simulations_per_second(processing: Processing, measured: Dataset, budget: int) -> float:
    """Return how many simulations Nelder-Mead does in a second of a core, all around included."""
    robot = load_robot('tx40')
    method = Cloe(processing=processing, optimizer='nelder_mead', simulations=budget)
    start = time.process_time()
    method.estimate(robot, measured)
    return budget / (time.process_time() - start)


def bench_didim_and_cloe() -> list[Figure]:
    """DIDIM on 10 s of TX40 from unit rotors; a Nelder-Mead budget of CLOE for the cost ratio."""
    robot = load_robot('tx40')
    figures = []
    for loop, decimation, limit in (('one_khz', 20, 0.45), ('default', 100, 1.2)):
        settings = robot.loop(loop)
        measured = record(robot, random_trajectory(robot.limits, 10.0), seed=1, loop=loop)
        processing = Processing(decimation=decimation)
        method = Didim(processing=processing, loop=loop)
        method.estimate(robot, measured)
        best = min((method.estimate(robot, measured) for _ in range(3)), key=lambda r: r.elapsed_s)
        figures.append(
            Figure(
                f'DIDIM TX40, 10 s at {settings.rate_hz:g} Hz, {best.iterations} iterations',
                best.elapsed_s,
                's',
                f'the paper ({PAPER_SECONDS:g} s)',
                PAPER_SECONDS / best.elapsed_s,
            )
        )
        figures += against_generic(f'DIDIM TX40, {settings.rate_hz:g} Hz', method, measured, limit)
        if loop != 'default':
            continue
        per_second = simulations_per_second(processing, measured, 100)
        by_kernels = generic(lambda p=processing, m=measured: simulations_per_second(p, m, 20))()
        assert isinstance(by_kernels, float)
        whole = PAPER_SIMULATIONS / per_second
        figures += [
            Figure(
                'CLOE TX40, Nelder-Mead',
                per_second,
                'simulations/s',
                'generic kernels',
                per_second / by_kernels,
            ),
            Figure('CLOE TX40, Nelder-Mead', per_second, 'simulations/s', target=10.0),
            Figure(
                f'CLOE at the {PAPER_SIMULATIONS} simulations of the paper (16 h there)',
                whole,
                's',
                f'DIDIM; the paper: {PAPER_RATIO:g} times',
                whole / best.elapsed_s,
            ),
        ]
    return figures
