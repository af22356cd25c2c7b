"""
Cost of the control room: one controller step, one window of ILIC, a learning run.

The controller step is measured against the same law in Python over pinocchio, in one run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from bench.figure import Figure, compare, in_turns
from robot_id.control import ComputedTorque, Ilic
from robot_id.dynamics import inverse_dynamics
from robot_id.robot import Robot, load_robot
from robot_id.robot.friction import ROTOR, kind_of
from robot_id.tasks import run_ilic
from robot_id.trajectory import Fourier

LARGEST_STEP_US = 50.0
STEPS = 500
VISCOUS, COULOMB, OFFSET = map(kind_of, ('viscous', 'coulomb', 'offset'))


class PythonComputedTorque:
    """The law over pinocchio.rnea, friction and rotors as NumPy expressions."""

    def __init__(self, robot: Robot, chi: np.ndarray, controller: ComputedTorque) -> None:
        standard = robot.representative(chi)
        self.model = robot.pinocchio_with(standard)
        self.data = self.model.createData()
        self.A, self.offset = robot.kinematics.expansion(), robot.kinematics.offset
        self.settings, self.period = controller.settings, controller.period
        terms = robot.terms
        gain = standard[robot.term_index][terms.parameter] * terms.gain
        self.parts = {}
        for kind in (ROTOR, VISCOUS, COULOMB, OFFSET):
            atoms = np.flatnonzero(terms.kind == kind)
            spread = np.zeros((robot.n, len(atoms)))
            spread[terms.row[atoms], np.arange(len(atoms))] = gain[atoms]
            self.parts[kind] = (spread, terms.direction[atoms])
        self.before = None

    def step(self, q, qr, dqr, ddqr):
        s = self.settings
        dq = dqr if self.before is None else (q - self.before) / self.period
        self.before = q
        w = s.kp * (qr - q) + s.kv * (dqr - dq) + ddqr
        A = self.A
        tau = A.T @ pin.rnea(self.model, self.data, A @ qr + self.offset, A @ dqr, A @ w)
        for kind, (spread, direction) in self.parts.items():
            if kind == ROTOR:
                tau = tau + spread @ (direction @ w)
            elif kind == VISCOUS:
                tau = tau + spread @ (direction @ dqr)
            elif kind == COULOMB:
                tau = tau + spread @ (2 / np.pi * np.arctan(s.slope * (direction @ dqr)))
            else:
                tau = tau + spread.sum(axis=1)
        return np.clip(tau, -s.limit, s.limit)


def motion(robot: Robot, duration: float) -> Fourier:
    """Return a cycle at up to 60 % of the speed limits."""
    rng = np.random.default_rng(1)
    S, C = (rng.normal(size=(robot.n, 5)) / np.arange(1.0, 6.0) for _ in range(2))
    limits = Fourier.at_rest(duration, np.full(robot.n, 0.1), S, C).extremes()
    scale = (
        1.0
        / np.maximum.reduce(
            [
                limits.velocity / robot.limits.velocity / 0.6,
                limits.acceleration / robot.limits.acceleration / 0.4,
                (limits.upper - limits.lower) / (0.8 * (robot.limits.upper - robot.limits.lower)),
                (limits.upper - limits.lower) / 2.5,
            ]
        )[:, None]
    )
    return Fourier.at_rest(duration, np.full(robot.n, 0.1), S * scale, C * scale)


def bench_step() -> list[Figure]:
    """One step of the TX40, called from Python as a node does."""
    robot = load_robot('tx40')
    chi = robot.truth()
    controller = ComputedTorque(robot, chi)
    blending = ComputedTorque(robot, chi, blend_s=60.0)
    blending.set_parameters(robot.a_priori())
    slow = PythonComputedTorque(robot, chi, controller)
    rng = np.random.default_rng(0)
    x = [0.1 * rng.normal(size=robot.n) for _ in range(4)]
    np.testing.assert_allclose(controller.step(*x), slow.step(*x), rtol=1e-9)

    def repeated(step: Callable[..., object]) -> Callable[[], None]:
        def work() -> None:
            for _ in range(STEPS):
                step(*x)

        return work

    figures = compare(
        'TX40 controller step',
        repeated(controller.step),
        {
            'Python over pinocchio.rnea': repeated(slow.step),
            'during an update': repeated(blending.step),
        },
        STEPS,
        repeats=15,
    )
    own = figures[0].value
    limit = Figure(
        'TX40 controller step against 50 us', own, 'us', '50 us', LARGEST_STEP_US / own, 1.0
    )
    return [*figures, limit]


def bench_window() -> list[Figure]:
    """ILIC on the TX40: one sample, and the least squares of a window of 10 s at 1 kHz."""
    robot = load_robot('tx40')
    q, dq, ddq = motion(robot, 10.0).sample(np.arange(10000) / 1000.0)
    ilic = Ilic(robot, robot.a_priori(), 1000.0, 10.0)
    slope = robot.description.coulomb_slope
    tau = inverse_dynamics(robot, robot.truth(), q, dq, ddq, slope)
    tau += np.random.default_rng(0).normal(size=tau.shape)

    def add() -> None:
        for _ in range(STEPS):
            ilic.add(q[0], dq[0], ddq[0], tau[0])

    seconds = in_turns({'add': add})
    ilic.window.add(np.concatenate([q, dq, ddq, tau], axis=1))
    window = ilic.take()
    seconds |= in_turns({'identify': lambda: ilic.identify(window)}, repeats=5)
    return [
        Figure('TX40 ILIC, take in a sample', 1e6 * seconds['add'] / STEPS, 'us'),
        Figure('TX40 ILIC, identify a window of 10 s', 1e3 * seconds['identify'], 'ms'),
    ]


def bench_run() -> list[Figure]:
    """Learning in simulation: times real time, and what it does to the tracking error."""
    figures = []
    for name in ('emps', 'scara', 'tx40'):
        robot = load_robot(name)
        cycle = motion(robot, 6.0)
        run = run_ilic(robot, robot.truth(), cycle, 4)
        seconds = in_turns({'run': lambda r=robot, c=cycle: run_ilic(r, r.truth(), c, 4)}, 3)
        gain = run.tracking_errors[0] / run.tracking_errors[-1]
        figures += [
            Figure(f'{name} learning run, times real time', 24.0 / seconds['run'], 'x'),
            Figure(f'{name} tracking error, start over end, worst joint', gain.min(), 'x',
                   target=5.0),
        ]  # fmt: skip
    return figures
