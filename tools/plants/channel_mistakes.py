"""Mistakes in the channels of one recording: units, signs, columns, clocks, sensors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run

Array = NDArray[np.float64]
Generator = np.random.Generator

Change = tuple[tuple[str, ...], tuple[int, ...], dict[str, Array | None], str]


def _late(tau: Array, seconds: float, rate: float) -> Array:
    t = np.arange(len(tau)) / rate
    at = np.clip(t - seconds, 0.0, t[-1])
    return np.column_stack([np.interp(at, t, column) for column in tau.T])


def _torque_unit(run: Run, rng: Generator) -> Change:
    factor = float(rng.choice([1e-3, 1e2, 1e3]))
    return ('torque_unit',), (), {'torque': run.torque * factor}, f'x {factor:g}'


def _position_unit(run: Run, rng: Generator) -> Change:
    changes: dict[str, Array | None] = {'position': np.rad2deg(run.position)}
    if run.velocity is not None:
        changes['velocity'] = np.rad2deg(run.velocity)
    return ('position_unit',), (), changes, 'deg'


def _time_unit(run: Run, rng: Generator) -> Change:
    factor = float(rng.choice([1e3, 1e6, 1e9]))
    return ('time_unit',), (), {'time': run.time * factor}, f'x {factor:g}'


def _all_flipped(run: Run, rng: Generator) -> Change:
    return ('torque_sign',), (), {'torque': -run.torque}, ''


def _one_flipped(run: Run, rng: Generator) -> Change:
    j = int(rng.integers(run.torque.shape[1]))
    sign = np.ones(run.torque.shape[1])
    sign[j] = -1.0
    return ('torque_sign',), (j,), {'torque': run.torque * sign}, ''


def _swapped(run: Run, rng: Generator) -> Change:
    n = run.torque.shape[1]
    i, j = sorted(int(k) for k in rng.choice(n, size=2, replace=False))
    order = np.arange(n)
    order[[i, j]] = j, i
    kind = int(rng.integers(3))
    changes: dict[str, Array | None] = {}
    if kind in (0, 2):
        changes['torque'] = run.torque[:, order]
    if kind in (1, 2):
        changes['position'] = run.position[:, order]
        if run.velocity is not None:
            changes['velocity'] = run.velocity[:, order]
    return ('joint_swap',), (i, j), changes, ('torque', 'position', 'both')[kind]


def _delayed(run: Run, rng: Generator) -> Change:
    delay = float(rng.choice([0.010, 0.050]))
    return ('torque_delay',), (), {'torque': _late(run.torque, delay, run.rate)}, f'{delay} s'


def _gear_ratio(run: Run, rng: Generator) -> Change:
    j = int(rng.integers(run.torque.shape[1]))
    factor = np.ones(run.torque.shape[1])
    factor[j] = float(rng.choice([0.1, 10.0]))
    kind = int(rng.integers(2))
    changes: dict[str, Array | None] = {'torque': run.torque * factor}
    if kind == 1:
        changes['position'] = run.position / factor
        if run.velocity is not None:
            changes['velocity'] = run.velocity / factor
    return ('gear_ratio',), (j,), changes, f'x {factor[j]:g} ' + ('torque', 'both')[kind]


def _motor_side(run: Run, rng: Generator) -> Change:
    ratio = rng.uniform(30.0, 160.0, run.torque.shape[1])
    return ('gear_ratio', 'torque_unit'), (), {'torque': run.torque / ratio}, f'{ratio}'


def _offset(run: Run, rng: Generator) -> Change:
    j = int(rng.integers(run.torque.shape[1]))
    offset = np.zeros(run.torque.shape[1])
    offset[j] = float(rng.choice([-1, 1])) * np.pi / 2
    return ('joint_offset',), (j,), {'position': run.position + offset}, f'{offset[j]:.2f}'


def _saturated(run: Run, rng: Generator) -> Change:
    limit = 0.8 * np.abs(run.torque).max(axis=0)
    return ('saturation',), (), {'torque': np.clip(run.torque, -limit, limit)}, ''


def _wrapped(run: Run, rng: Generator) -> Change:
    # The encoder wraps where this joint moves most, whatever its zero is.
    j = int(np.argmax(np.ptp(run.position, axis=0)))
    q = run.position.copy()
    edge = np.pi + np.median(q[:, j]) - np.pi
    q[:, j] = np.where(q[:, j] > edge, q[:, j] - 2 * np.pi, q[:, j])
    return ('wrap_around',), (j,), {'position': q}, ''


def _currents(run: Run, rng: Generator) -> Change:
    gain = np.exp(rng.uniform(np.log(6.0), np.log(30.0), run.torque.shape[1]))
    return ('gear_ratio', 'torque_unit'), (), {'torque': run.torque / gain}, f'{gain}'


def _noise(run: Run, rng: Generator) -> Change:
    tau = run.torque.mean(axis=0) + run.torque.std(axis=0) * rng.normal(size=run.torque.shape)
    return ('unexplained',), (), {'torque': tau}, ''


def _logger_stamps(run: Run, rng: Generator) -> Change:
    # A logger polls: it stamps each sample when it gets to it, most often late.
    late = rng.exponential(0.4, len(run)) * run.step
    time = np.sort(run.time + late)
    velocity = run.velocity
    if velocity is None:
        velocity = np.gradient(run.position, run.time, axis=0)
    return ('stamps',), (), {'time': time, 'velocity': velocity}, ''


def _unsigned(run: Run, rng: Generator) -> Change:
    return ('unsigned_torque',), (), {'torque': np.abs(run.torque)}, ''


def _one_unsigned(run: Run, rng: Generator) -> Change:
    # A torque that gravity keeps on one side is the same without its sign.
    j = int(np.argmin(np.abs((run.torque > 0.0).mean(axis=0) - 0.5)))
    torque = run.torque.copy()
    torque[:, j] = np.abs(torque[:, j])
    return ('unsigned_torque',), (j,), {'torque': torque}, ''


def _held(run: Run, rng: Generator) -> Change:
    count = int(rng.integers(2, 5))
    rows = np.arange(len(run)) // count * count
    names = ('position', 'torque', 'velocity')
    changes = {name: v[rows] for name in names if (v := getattr(run, name)) is not None}
    return ('held_samples',), (), changes, f'{count} times'


def _scaled_positions(run: Run, factor: Array) -> dict[str, Array | None]:
    velocity = None if run.velocity is None else run.velocity * factor
    return {'position': run.position * factor, 'velocity': velocity}


def _position_factor(run: Run, rng: Generator) -> Change:
    j = int(rng.integers(run.torque.shape[1]))
    factor = np.ones(run.torque.shape[1])
    factor[j] = float(rng.choice([0.5, 2.0]))
    return ('gear_ratio',), (j,), _scaled_positions(run, factor), f'x {factor[j]:g}'


def _radians(run: Run, rng: Generator) -> Change:
    scale = np.full(run.torque.shape[1], np.pi / 180.0)
    return ('position_unit',), (), _scaled_positions(run, scale), 'rad as deg'


def _motor_positions(run: Run, rng: Generator) -> Change:
    ratio = np.full(run.torque.shape[1], float(rng.choice([50.0, 80.0, 101.0, 160.0])))
    return ('gear_ratio',), (), _scaled_positions(run, ratio), f'x {ratio[0]:g}'


def _milliamps(run: Run, rng: Generator) -> Change:
    return ('torque_unit',), (), {'torque': 1e3 * run.torque}, 'mA as A'


# What the mapping of the user says.
UNITS = {
    'motor_positions': {'position': 'deg'},
    'radians': {'position': 'deg'},
    'milliamps': {'torque': 'A'},
}
MISTAKES: dict[str, Callable[[Run, Generator], Change]] = {
    'torque_unit': _torque_unit,
    'position_unit': _position_unit,
    'time_unit': _time_unit,
    'all_flipped': _all_flipped,
    'one_flipped': _one_flipped,
    'swapped': _swapped,
    'delayed': _delayed,
    'gear_ratio': _gear_ratio,
    'motor_side': _motor_side,
    'joint_offset': _offset,
    'saturated': _saturated,
    'wrapped': _wrapped,
    'currents': _currents,
    'noise': _noise,
    'logger_stamps': _logger_stamps,
    'unsigned': _unsigned,
    'one_unsigned': _one_unsigned,
    'held': _held,
    'position_factor': _position_factor,
    'motor_positions': _motor_positions,
    'radians': _radians,
    'milliamps': _milliamps,
}
