"""From recorded values of a channel to the joint side in SI units, as its mapping says."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units
from robot_id.data.mapping import DRIVE_GAIN, Channel
from robot_id.exceptions import DataError

Array = NDArray[np.float64]
PD_NOTE = 'computed from reference, position and velocity by the gains of the mapping'
RATIO_NOTE = (
    'a {} in place of a torque: parameters of each joint are ratios to its unknown factor kt / R '
    "(robot-id drive-gains finds it with a known mass), viscous friction includes the motor's kt"
)


def on_joint_side(raw: Array, channel: Channel, name: str, scale: Array, where: str) -> Array:
    """
    Return a channel in SI units on the joint side, (N, n).

    Torques: matrix * (scale * unit * raw); positions and their derivatives:
    matrix^-1 * (scale * unit * raw) + offset.

    :param raw: (N, n) as recorded.
    :param scale: (1,) or (n,) factors.
    :param where: file and channel for messages.
    """
    n = raw.shape[1]
    values = raw * (units.factor(channel.unit, units.OF_CHANNEL[name], where) * scale)
    if channel.motor_matrix is not None:
        matrix = np.array(channel.motor_matrix, dtype=float)
        if matrix.shape != (n, n):
            raise DataError(f'{where}: motor_matrix is {matrix.shape}, {n} x {n} is needed')
        if name in ('torque', 'control', 'temperature', 'gain', 'supply', 'enabled'):
            values = values @ matrix.T
        elif np.linalg.matrix_rank(matrix) < n:
            raise DataError(f'{where}: motor_matrix is singular')
        else:
            values = np.linalg.solve(matrix, values.T).T
    if channel.offset is not None:
        values = values + per_joint(channel.offset, n, f'{where}: offset')
    return np.ascontiguousarray(values)


def constant_values(
    channel: Channel, name: str, samples: int, n: int, file: str, where: str
) -> Array:
    """
    Return (N, n) values of a channel that the mapping gives as a constant.

    :param file: name of the recording, which chooses among values by file.
    """
    value = channel.value
    if isinstance(value, dict):
        chosen = [each for pattern, each in value.items() if fnmatch(file, pattern)]
        if len(chosen) != 1:
            found = 'no pattern' if not chosen else 'more than one pattern'
            raise DataError(f"{where}: {found} of '{name}.value' is that of '{file}'")
        value = chosen[0]
    assert value is not None
    constants = per_joint(value, n, f'{where}: value')
    constants = constants * units.factor(channel.unit, units.OF_CHANNEL[name], where)
    return np.ascontiguousarray(np.broadcast_to(constants, (samples, n)))


def drive_gains(names: tuple[str, ...], known: Mapping[str, float], where: str) -> Array:
    """(n,) the drive gains of the robot file."""
    for name in names:
        if name not in known:
            raise DataError(
                f"{where}: scale '{DRIVE_GAIN}' is taken from the robot file, where joint "
                f"'{name}' has none: add '{DRIVE_GAIN}' there, or give a number as 'scale'",
                joint=name,
            )
    return np.array([known[name] for name in names])


def per_joint(value: float | list[float], n: int, where: str) -> Array:
    """Return one value for all joints, (1,), or one each, (n,)."""
    values = np.atleast_1d(np.asarray(value, dtype=float))
    if values.size not in (1, n):
        raise DataError(f'{where} has {values.size} values for {n} joints')
    return values


def pd_torque(channel: Channel, time: Array, channels: Mapping[str, Array], where: str) -> Array:
    """
    Return (N, n) torques kp (reference - position) - kd velocity, `delay` seconds later.

    Velocities are those recorded, or central differences; a reference velocity is taken off. The
    reference is that of `reference_delay` seconds before.
    """
    position, n = channels['position'], channels['position'].shape[1]
    assert channel.kp is not None
    kp = per_joint(channel.kp, n, f'{where}: kp')
    kd = per_joint(0.0 if channel.kd is None else channel.kd, n, f'{where}: kd')
    limit = per_joint(np.inf if channel.limit is None else channel.limit, n, f'{where}: limit')
    velocity = channels.get('velocity')
    if velocity is None:
        velocity = np.gradient(position, time, axis=0)
    wanted, wanted_velocity = (
        channels.get(name, np.zeros_like(position))
        for name in ('reference_position', 'reference_velocity')
    )
    if channel.reference_delay:
        wanted, wanted_velocity = (
            earlier(time, values, -channel.reference_delay, where)
            for values in (wanted, wanted_velocity)
        )
    torque = np.clip(kp * (wanted - position) - kd * (velocity - wanted_velocity), -limit, limit)
    return earlier(time, torque, -channel.delay, where) if channel.delay else torque


def earlier(time: Array, values: Array, delay: float, where: str) -> Array:
    """Return values that were recorded late, taken at their own times; the ends are held."""
    if np.any(np.diff(time) <= 0):
        raise DataError(f"{where}: 'delay' needs times that only increase")
    return np.column_stack([np.interp(time + delay, time, column) for column in values.T])
