"""Disturbances of the recording of a cell: noise by factors, coloured noise, missed samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from robot_id.data.cleaning.cleaning import Raw, clean
from robot_id.data.dataset import Run
from robot_id.dynamics import Disturbances
from robot_id.robot import Robot

Array = NDArray[np.float64]


def disturbances(robot: Robot, noise: dict[str, Any], seed: int) -> Disturbances:
    """
    Return the noise of the robot file times the factors of a cell.

    Where the file has no position noise, the factor is of the spread of its encoder step.

    :param noise: an entry of the grid; coloured torque noise is added after the simulation.
    """
    own = Disturbances.of_robot(robot, seed)
    position = own.position_std
    if position is None and own.encoder_step is not None and noise['position_std'] is not None:
        position = own.encoder_step / np.sqrt(12.0)
    return Disturbances(
        encoder_step=_times(own.encoder_step, noise['encoder_step']),
        position_std=_times(position, noise['position_std']),
        torque_std=None if noise['colour'] else _times(own.torque_std, noise['torque_std']),
        seed=seed,
    )


def coloured(run: Run, robot: Robot, noise: dict[str, Any], seed: int) -> Run:
    """
    Add torque noise whose neighbours are correlated by `colour`: e_k = a e_k-1 + sqrt(1-a^2) w_k.

    Its standard deviation is that of the white noise it stands for.
    """
    std = _times(Disturbances.of_robot(robot).torque_std, noise['torque_std'])
    if std is None:
        return run
    a = noise['colour']
    w = np.random.default_rng([seed, 4]).normal(size=run.torque.shape)
    w[1:] *= np.sqrt(1.0 - a * a)
    return replace(run, torque=run.torque + scipy.signal.lfilter([1.0], [1.0, -a], w, 0) * std)


def with_missed_samples(
    run: Run, joint_names: tuple[str, ...], share: float, seed: int
) -> tuple[Run, ...]:
    """Leave out a share of the samples and repair the rest as the readers of recordings do."""
    kept = np.random.default_rng([seed, 5]).random(len(run)) >= share
    channels = {name: values[kept] for name, values in run.channels().items()}
    raw = Raw('simulated', run.time[kept], channels, joint_names)
    return tuple(clean(raw, run.rate)[0])


def _times(std: Array | None, factor: float | None) -> Array | None:
    """Return a deviation times a factor, None for none at all."""
    if std is None or factor is None:
        return std
    return None if factor == 0.0 else np.asarray(std) * factor
