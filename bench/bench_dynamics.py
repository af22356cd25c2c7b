"""Inverse dynamics, inertia matrix and direct dynamics against Python loops over pinocchio."""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin

from bench.figure import Figure, compare
from robot_id import dynamics
from robot_id.robot import load_robot

SAMPLES = 4000


def bench_tx40() -> list[Figure]:
    """Six joints; the loops over pinocchio leave rotors and friction out."""
    robot = load_robot('tx40')
    rng = np.random.default_rng(0)
    q, dq, ddq = (rng.uniform(-3, 3, (SAMPLES, robot.n)) for _ in range(3))
    chi, slope = robot.truth(), robot.description.coulomb_slope
    model = robot.pinocchio
    data = model.createData()
    out = np.empty((SAMPLES, 6))
    matrices = np.empty((SAMPLES, 6, 6))

    def rnea() -> None:
        for k in range(SAMPLES):
            out[k] = pin.rnea(model, data, q[k], dq[k], ddq[k])

    def crba() -> None:
        for k in range(SAMPLES):
            matrices[k] = pin.crba(model, data, q[k])

    def aba() -> None:
        for k in range(SAMPLES):
            out[k] = pin.aba(model, data, q[k], dq[k], ddq[k])

    return [
        *compare(
            'inverse dynamics',
            lambda: dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope),
            {'loop over pinocchio.rnea': rnea}, SAMPLES,
        ),
        *compare(
            'inertia matrix', lambda: dynamics.inertia_matrix(robot, chi, q),
            {'loop over pinocchio.crba': crba}, SAMPLES,
        ),
        *compare(
            'direct dynamics',
            lambda: dynamics.direct_dynamics(robot, chi, q, dq, ddq, slope),
            {'loop over pinocchio.aba': aba}, SAMPLES,
        ),
    ]  # fmt: skip


def bench_derivatives() -> list[Figure]:
    """Analytic derivatives by q and dq with M(q)."""
    robot = load_robot('tx40')
    rng = np.random.default_rng(0)
    q, dq, ddq = (rng.uniform(-3, 3, (SAMPLES, robot.n)) for _ in range(3))
    chi, model = robot.truth(), robot.pinocchio
    data = model.createData()
    by_q, by_dq, M = (np.empty((SAMPLES, 6, 6)) for _ in range(3))

    def loop() -> None:
        for k in range(SAMPLES):
            pin.computeRNEADerivatives(model, data, q[k], dq[k], ddq[k])
            by_q[k], by_dq[k], M[k] = data.dtau_dq, data.dtau_dv, data.M

    return compare(
        'derivatives',
        lambda: dynamics.derivatives(robot, chi, q, dq, ddq),
        {'loop over pinocchio.computeRNEADerivatives': loop},
        SAMPLES,
    )


def bench_loading() -> list[Figure]:
    """From a robot file to its base parameters."""
    figures = []
    for name in ('emps', 'scara', 'tx40'):
        start = time.perf_counter()
        len(load_robot(name).base)
        figures.append(Figure(f'load {name}', 1e3 * (time.perf_counter() - start), 'ms'))
    return figures
