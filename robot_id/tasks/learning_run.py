"""Learning in simulation: a robot, its computed torque controller and ILIC, cycle by cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.blas_threads import one_blas_thread
from robot_id.control.learning.ilic import Ilic, Update
from robot_id.control.runtime.computed_torque import ComputedTorque
from robot_id.dynamics import Disturbances, Plant, Simulation
from robot_id.exceptions import ControlError
from robot_id.progress import Progress, silent
from robot_id.robot import Loop, Robot
from robot_id.trajectory.reference import Reference
from robot_id.trajectory.trajectory import Trajectory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cycle:
    """
    One cycle of a learning run.

    :param parameters: (b,) of the controller at the start of the cycle.
    :param tracking_error: (n,) ||qr - q|| / ||q - mean(q)|| of the cycle.
    :param updates: what became due in the cycle, mostly one at its end.
    :param simulation: records of the cycle, None unless they were asked for.
    """

    parameters: Array
    tracking_error: Array
    updates: tuple[Update, ...]
    simulation: Simulation | None


@dataclass(frozen=True)
class LearningRun:
    """All cycles of a run, and the controller and the learner at its end."""

    cycles: tuple[Cycle, ...]
    controller: ComputedTorque
    ilic: Ilic

    @property
    def updates(self) -> tuple[Update, ...]:
        """All updates, accepted and refused."""
        return tuple(update for cycle in self.cycles for update in cycle.updates)

    @property
    def tracking_errors(self) -> Array:
        """(cycles, n)."""
        return np.array([cycle.tracking_error for cycle in self.cycles])


@one_blas_thread()
def run_ilic(
    robot: Robot,
    truth: ArrayLike,
    trajectory: Trajectory,
    cycles: int,
    *,
    start: ArrayLike | None = None,
    loop: str | Loop = 'learning',
    disturbances: Disturbances | None = None,
    coulomb_slope: float | None = None,
    learn: bool = True,
    keep: bool = False,
    controller_options: dict[str, Any] | None = None,
    ilic_options: dict[str, Any] | None = None,
    progress: Progress = silent,
) -> LearningRun:
    """
    Run a cyclic motion and let the controller learn from each cycle.

    :param truth: (b,) parameters of the simulated robot.
    :param trajectory: one cycle; a one-shot motion stays at its end in all later cycles.
    :param start: (b,) of the controller; None takes the a priori values (eq. 28 of paper 003).
    :param loop: a computed torque loop of the robot file, or a Loop.
    :param learn: False leaves the parameters as they are.
    :param keep: keep the records of every cycle.
    :param controller_options: for ComputedTorque.
    :param ilic_options: for Ilic; window_s is the cycle time when not given.
    """
    if cycles < 1:
        raise ControlError(f'the number of cycles must be 1 or more, got {cycles}')
    controller = ComputedTorque(robot, start, loop, **(controller_options or {}))
    rate = controller.loop.rate_hz
    options = {'window_s': trajectory.duration, **(ilic_options or {})}
    ilic = Ilic(
        robot, controller.target, rate,
        **{'torque_limit': controller.settings.limit, **options},
    )  # fmt: skip
    controller.check_inertia(trajectory.sample(np.linspace(0.0, trajectory.duration, 400))[0])
    q0, dq0, _ = trajectory.sample(0.0)
    plant = Plant(
        robot, truth, q0, dq0, rate_hz=rate, disturbances=disturbances,
        coulomb_slope=coulomb_slope,
    )  # fmt: skip
    controller.reset()
    done = []
    for k in range(cycles):
        progress(k / cycles, f'cycle {k + 1} of {cycles}')
        ends = [round(i * trajectory.duration * rate) for i in (k, k + 1)]
        time = np.arange(*ends) / rate
        reference = Reference(time, *trajectory.sample(time))
        done.append(_cycle(plant, controller, ilic, reference, learn, keep))
    progress(1.0, 'done')
    return LearningRun(tuple(done), controller, ilic)


def _cycle(
    plant: Plant,
    controller: ComputedTorque,
    ilic: Ilic,
    reference: Reference,
    learn: bool,
    keep: bool,
) -> Cycle:
    """Run one cycle, in chunks that end where an update is due."""
    parameters = controller.target
    parts, updates, at = [], [], 0
    while at < len(reference):
        # A reference has at least two samples, so an update may take effect one sample late.
        count = min(max(ilic.window.room(), 2), len(reference) - at)
        if len(reference) - at - count == 1:
            count += 1
        chunk = Reference(*(getattr(reference, name)[at : at + count] for name in _FIELDS))
        simulation = plant.run(controller, chunk)
        at += count
        parts.append(simulation)
        for update in ilic.feed(
            chunk.position, chunk.velocity, chunk.acceleration, simulation.measured_torque
        ):
            updates.append(update)
            if learn and update.accepted:
                controller.set_parameters(update.parameters)
            elif update.accepted:
                ilic.parameters = parameters
    whole = _join(reference, parts)
    return Cycle(parameters, whole.tracking_error(), tuple(updates), whole if keep else None)


_FIELDS = ('time', 'position', 'velocity', 'acceleration')
_RECORDS = (
    'position', 'velocity', 'acceleration', 'torque', 'measured_position', 'measured_torque',
)  # fmt: skip


def _join(reference: Reference, parts: list[Simulation]) -> Simulation:
    columns = {name: np.concatenate([getattr(p, name) for p in parts]) for name in _RECORDS}
    return Simulation(reference, **columns)
