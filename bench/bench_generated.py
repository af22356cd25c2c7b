"""Code made for one robot against the generic kernels and against loops over pinocchio."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from bench.figure import Figure, generic, in_turns
from robot_id import dynamics
from robot_id.control import tune
from robot_id.dynamics import simulate
from robot_id.methods.kalman.filter import StateModel
from robot_id.robot import load_robot
from robot_id.trajectory.random import random_trajectory

SAMPLES = 4000
# us a sample on a quiet machine
LIMITS = {
    'inverse dynamics': 0.3,
    'regressor': 0.45,
    'inertia matrix': 0.3,
    'derivatives': 1.2,
}


def bench_tx40() -> list[Figure]:
    """Six joints, sign(dq), one core."""
    robot = load_robot('tx40')
    rng = np.random.default_rng(0)
    q, dq, ddq = (rng.uniform(-3, 3, (SAMPLES, robot.n)) for _ in range(3))
    G = rng.normal(size=(SAMPLES, robot.n, len(robot.base)))
    chi, model = robot.truth(), robot.pinocchio
    data, W = model.createData(), np.empty_like(G)
    works: dict[str, Callable[[], object]] = {
        'inverse dynamics': lambda: dynamics.inverse_dynamics(robot, chi, q, dq, ddq),
        'regressor': lambda: dynamics.regressor(robot, q, dq, ddq, out=W),
        'inertia matrix': lambda: dynamics.inertia_matrix(robot, chi, q),
        'direct dynamics': lambda: dynamics.direct_dynamics(robot, chi, q, dq, ddq),
        'derivatives': lambda: dynamics.derivatives(robot, chi, q, dq, ddq),
        'slopes of the regressor': lambda: dynamics.regressor_slopes(robot, q, dq, ddq, G),
    }
    calls: dict[str, Callable[[int], object]] = {
        'inverse dynamics': lambda k: pin.rnea(model, data, q[k], dq[k], ddq[k]),
        'regressor': lambda k: pin.computeJointTorqueRegressor(model, data, q[k], dq[k], ddq[k]),
        'inertia matrix': lambda k: pin.crba(model, data, q[k]),
        'direct dynamics': lambda k: pin.aba(model, data, q[k], dq[k], ddq[k]),
        'derivatives': lambda k: pin.computeRNEADerivatives(model, data, q[k], dq[k], ddq[k]),
    }
    figures = []
    for name, work in works.items():
        turns = {'generated': work, 'generic': generic(work)}
        if name in calls:
            turns['pinocchio'] = lambda call=calls[name]: [call(k) for k in range(SAMPLES)]
        seconds = in_turns(turns, repeats=15)
        us = {key: 1e6 * value / SAMPLES for key, value in seconds.items()}
        own = us['generated']
        figures.append(
            Figure(f'generated {name}', own, 'us/sample', 'generic kernels', us['generic'] / own)
        )
        if name in calls:
            ratio = us['pinocchio'] / own
            figures.append(
                Figure(f'generated {name}', own, 'us/sample', 'loop over pinocchio', ratio)
            )
        if name in LIMITS:
            limit = LIMITS[name]
            against = f'{limit:g} us'
            figures.append(Figure(f'generated {name}', own, 'us', against, limit / own, 1.0))
    return figures


def bench_loop_and_filter() -> list[Figure]:
    """The closed loop of the TX40 at 1 kHz, and one step of its extended Kalman filter."""
    robot = load_robot('tx40')
    loop, chi, slope = robot.loop('one_khz'), robot.truth(), robot.description.coulomb_slope
    law = tune(robot, loop)
    reference = random_trajectory(robot.limits, 2.0).sampled(loop.rate_hz)

    def simulation() -> object:
        return simulate(robot, chi, reference, law)

    seconds = in_turns({'generated': simulation, 'generic': generic(simulation)}, repeats=5)
    own, other = (reference.duration / seconds[key] for key in ('generated', 'generic'))
    figures = [
        Figure('generated closed loop', own, 'x real time', 'generic kernels', own / other),
        Figure('generated closed loop', own, 'x real time', target=180.0),
    ]
    z = np.concatenate([np.full(6, 0.3), np.full(6, 0.2), chi])
    steps, tau = 200, np.ones(6)
    made = StateModel(robot, 1e-3, 'midpoint', slope)
    plain = generic(lambda: StateModel(robot, 1e-3, 'midpoint', slope))()
    assert isinstance(plain, StateModel)
    seconds = in_turns(
        {
            'generated': lambda: [made.advance(z, tau) for _ in range(steps)],
            'generic': lambda: [plain.advance(z, tau) for _ in range(steps)],
        }
    )
    us = 1e6 * seconds['generated'] / steps
    ratio = seconds['generic'] / seconds['generated']
    return [*figures, Figure('generated step of 72 states', us, 'us', 'generic kernels', ratio)]
