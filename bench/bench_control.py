"""
Cost of the control room: one controller step, one window of ILIC, a learning run.

The controller step is measured against the same law in Python over pinocchio, in one run. Calls
are timed in short batches; the median batch is what a loaded machine gives, the best one what the
work costs. Run it with `python bench/bench_control.py [robot ...]`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from robot_id.control import ComputedTorque, Ilic, run_ilic
from robot_id.model import Robot, load_robot
from robot_id.model.terms import Kind
from robot_id.trajectory import Fourier

LARGEST_STEP_US = 50.0


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
        for kind in (Kind.INERTIA, Kind.VISCOUS, Kind.COULOMB, Kind.OFFSET):
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
            if kind == Kind.INERTIA:
                tau = tau + spread @ (direction @ w)
            elif kind == Kind.VISCOUS:
                tau = tau + spread @ (direction @ dqr)
            elif kind == Kind.COULOMB:
                tau = tau + spread @ (2 / np.pi * np.arctan(s.slope * (direction @ dqr)))
            else:
                tau = tau + spread.sum(axis=1)
        return np.clip(tau, -s.limit, s.limit)


def batches(call: Callable[[], object], size: int = 100, count: int = 200) -> tuple[float, float]:
    """Return the best and the median batch, microseconds per call."""
    call()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        for _ in range(size):
            call()
        times.append((time.perf_counter() - start) / size * 1e6)
    return min(times), float(np.median(times))


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


def bench_step(robot: Robot) -> None:
    chi = robot.truth()
    controller = ComputedTorque(robot, chi)
    slow = PythonComputedTorque(robot, chi, controller)
    rng = np.random.default_rng(0)
    x = [0.1 * rng.normal(size=robot.n) for _ in range(4)]
    difference = np.abs(controller.step(*x) - slow.step(*x)).max()
    ours = batches(lambda: controller.step(*x))
    controller.set_parameters(robot.a_priori())
    controller.memory.blend[1] = 1e9
    blending = batches(lambda: controller.step(*x))
    python = batches(lambda: slow.step(*x))
    print(
        f'{robot.name}: controller step best {ours[0]:.1f} us (median {ours[1]:.1f}), during an '
        f'update {blending[0]:.1f} us, Python over pinocchio {python[0]:.1f} us (median '
        f'{python[1]:.1f}): {python[0] / ours[0]:.1f} times faster, '
        f'{"under" if ours[0] < LARGEST_STEP_US else "OVER"} {LARGEST_STEP_US:g} us, '
        f'largest difference {difference:.1e}'
    )


def bench_window(robot: Robot) -> None:
    cycle = motion(robot, 10.0)
    t = np.arange(10000) / 1000.0
    q, dq, ddq = cycle.sample(t)
    ilic = Ilic(robot, robot.a_priori(), 1000.0, 10.0)
    tau = np.random.default_rng(0).normal(size=q.shape)
    add = batches(lambda: ilic.add(q[0], dq[0], ddq[0], tau[0]))[0]
    ilic.window.add(np.concatenate([q, dq, ddq, tau], axis=1))
    window = ilic.take()
    identify = batches(lambda: ilic.identify(window), size=1, count=10)[0]
    print(
        f'{robot.name}: ILIC takes in a sample in {add:.1f} us and identifies a window of 10 s '
        f'in {identify / 1e3:.0f} ms'
    )


def bench_run(robot: Robot) -> None:
    cycle = motion(robot, 6.0)
    run_ilic(robot, robot.truth(), cycle, 1)
    start = time.perf_counter()
    run = run_ilic(robot, robot.truth(), cycle, 4)
    elapsed = time.perf_counter() - start
    gain = run.tracking_errors[0] / run.tracking_errors[-1]
    print(
        f'{robot.name}: 4 cycles of 6 s learn in {elapsed:.2f} s ({24.0 / elapsed:.0f} times real '
        f'time); tracking error lower by {gain.min():.0f} to {gain.max():.0f} times'
    )


if __name__ == '__main__':
    for name in sys.argv[1:] or ('emps', 'scara', 'tx40'):
        robot = load_robot(name)
        bench_step(robot)
        bench_window(robot)
        bench_run(robot)
