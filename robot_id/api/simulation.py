"""What `simulate` does, with all that the simulation knows and no logger records."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from robot_id.api.fit import Fit
from robot_id.data.dataset import Dataset
from robot_id.dynamics import Disturbances, Simulation
from robot_id.exceptions import OptionError
from robot_id.excitation.design import Excitation
from robot_id.methods.parameters import load_for_robot
from robot_id.robot import Robot, load_robot
from robot_id.robot.robot import Array
from robot_id.tasks import dataset_of, perform
from robot_id.tasks.payload.attachment import at_link, carrying, known_part, last_link
from robot_id.trajectory import Reference, Trajectory
from robot_id.trajectory.default import motion_of

AnyRobot: TypeAlias = Robot | str | Path | pin.Model
Motion: TypeAlias = Trajectory | Reference | Excitation | str | Path
# A recording of one sample in more than these is none.
MOST_EVERY = 1_000_000


class Simulated(NamedTuple):
    """A robot with the friction of its model, the motion it was to follow, and what it did."""

    robot: Robot
    motion: Trajectory | Reference
    run: Simulation

    @property
    def kind(self) -> str:
        """Kind of the motion."""
        return 'samples' if isinstance(self.motion, Reference) else self.motion.kind

    def dataset(self, every: int = 1) -> Dataset:
        """Return what a logger has recorded, one control sample in `every`."""
        return dataset_of(self.robot, self.run, every)


def simulation_of(
    robot: AnyRobot,
    motion: Motion | None = None,
    *,
    seed: int = 0,
    seconds: float | None = None,
    cycles: int = 1,
    parameters: Fit | ArrayLike | str | Path | None = None,
    payload: str | Sequence[float] | None = None,
    tool: str | None = None,
    noise: bool = True,
    loop: str = 'default',
) -> Simulated:
    """Return the robot that is simulated, its motion and its run, see `robot_id.simulate`."""
    model, chi = _simulated(load_robot(robot), parameters)
    if tool is not None and payload is None:
        raise OptionError('tool: the payload that hangs on it is needed too', key='tool')
    if payload is not None:
        place = at_link(model, tool) if tool else last_link(model)
        chi = carrying(model, chi, known_part(numbers(payload), 'payload'), place)
    chosen = _motion(model, motion, seconds, seed)
    run = perform(
        model, chosen, seed, loop=loop, parameters=chi,
        cycles=cycles, disturbances=None if noise else Disturbances(),
    )  # fmt: skip
    return Simulated(model, chosen, run)


def _simulated(robot: Robot, given: Fit | ArrayLike | str | Path | None) -> tuple[Robot, Array]:
    """Return the robot with the friction of the given model, and its (b,) values."""
    if given is None:
        return robot, robot.truth()
    if isinstance(given, Fit):
        return given.model.robot, given.model.parameters
    if isinstance(given, str | Path):
        return load_for_robot(robot, given)[:2]
    return robot, values_of(robot, given)


def _motion(
    robot: Robot, given: Motion | None, seconds: float | None, seed: int
) -> Trajectory | Reference:
    """Return the motion itself, whatever names it."""
    if isinstance(given, Excitation):
        return given.trajectory
    if given is None or isinstance(given, str | Path):
        return motion_of(robot, None if given is None else str(given), seconds, seed)
    if isinstance(given, Trajectory | Reference):
        return given
    raise OptionError(
        'motion: a trajectory, a result of excite, a name or a file is needed, got '
        f'{type(given).__name__}',
        key='motion',
    )


def check_every(every: int) -> None:
    """Refuse what is no number of control samples."""
    if not isinstance(every, Integral) or not 1 <= every <= MOST_EVERY:
        raise OptionError(
            f'every: {every!r} must be a whole number between 1 and {MOST_EVERY}',
            key='every',
            value=every,
            bound=(1, MOST_EVERY),
        )


def values_of(robot: Robot, given: ArrayLike) -> Array:
    """(b,) finite values of the base parameters."""
    b = len(robot.base)
    try:
        found = np.asarray(given, float)
    except (TypeError, ValueError) as error:
        raise OptionError(
            f'parameters: not an array of numbers ({error})', key='parameters'
        ) from error
    if found.shape != (b,) or not np.isfinite(found).all():
        raise OptionError(
            f'parameters: {b} finite values are needed ({", ".join(robot.base.names[:3])} ...), '
            f'got shape {found.shape}',
            key='parameters',
            value=found.shape,
            bound=b,
        )
    return found


def numbers(given: str | Path | Sequence[float]) -> str:
    """Return numbers, or a file, as the text that the command line has for them."""
    if isinstance(given, str | Path):
        return str(given)
    return ','.join(map(repr, map(float, given)))
