"""
Compile the kernels before they are needed, so that the user is told about the wait.

numba compiles on the first call, some seconds per kernel, and keeps the machine code on disk: only
the first run after an installation or an upgrade waits.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robot_id.dynamics.generated.pointer import rows_at, slopes_at
from robot_id.dynamics.inverse import direct_dynamics, inertia_matrix, inverse_dynamics
from robot_id.dynamics.kernels.models import direct_kernel, inertia_kernel, inverse_kernel
from robot_id.dynamics.kernels.regressor import regressor_kernel
from robot_id.dynamics.kernels.regressor_slopes import slopes_kernel
from robot_id.dynamics.regressor import regressor, regressor_slopes
from robot_id.kernel_cache import kinds_on_disk
from robot_id.progress import Progress, silent
from robot_id.robot import Robot, RobotDescription, build_robot


def _regressor_slopes(robot: Robot, chi: np.ndarray, x: np.ndarray) -> None:
    regressor_slopes(robot, x, x, x, regressor(robot, x, x, x))


class Kernel(NamedTuple):
    """
    A compiled function.

    :param function: what numba compiles.
    :param use: a call that needs it, of a robot with one joint, its parameters and a state (1, 1).
    :param kinds: number of types of arguments that it is compiled for.
    """

    function: Any
    use: Callable[[Robot, np.ndarray, np.ndarray], Any]
    kinds: int = 1


# Name -> kernel; rooms above add their own.
KERNELS: dict[str, Kernel] = {
    'regressor': Kernel(regressor_kernel, lambda robot, chi, x: regressor(robot, x, x, x)),
    'regressor_slopes': Kernel(slopes_kernel, _regressor_slopes),
    'rows_at': Kernel(rows_at, lambda robot, chi, x: rows_at(0, x[None], x)),
    'slopes_at': Kernel(slopes_at, lambda robot, chi, x: slopes_at(0, x[None], x, x[None])),
    'inverse_dynamics': Kernel(
        inverse_kernel, lambda robot, chi, x: inverse_dynamics(robot, chi, x, x, x)
    ),
    'inertia_matrix': Kernel(inertia_kernel, inertia_matrix),
    'direct_dynamics': Kernel(
        direct_kernel, lambda robot, chi, x: direct_dynamics(robot, chi, x, x, x)
    ),
}


def cold_kernels(*names: str) -> tuple[str, ...]:
    """Return those of the named kernels (all without names) that a call would have to compile."""
    return tuple(name for name in names or KERNELS if not _ready(KERNELS[name]))


def warm_up(*names: str, progress: Progress = silent) -> None:
    """
    Compile the named kernels (all without names), or load them from the disk.

    :param progress: called before each one.
    """
    description = RobotDescription.model_validate(
        {'name': 'one joint', 'mdh': [{}], 'joints': [{'name': 'joint'}]}
    )
    robot = build_robot(description, Path())
    x = np.zeros((1, 1))
    chosen = names or tuple(KERNELS)
    for k, name in enumerate(chosen):
        progress(k / len(chosen), f'compiling kernels (once): {name}')
        KERNELS[name].use(robot, robot.regular_start(), x)
    progress(1.0, 'kernels are ready')


def _ready(kernel: Kernel) -> bool:
    """Whether machine code of this version of the source is in memory or on the disk."""
    function = kernel.function
    if len(function.signatures) >= kernel.kinds:
        return True
    return kinds_on_disk(function) >= kernel.kinds
