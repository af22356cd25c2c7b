"""The units and factors of the channels, from names and numbers together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units
from robot_id.robot import Robot
from robot_id.tasks.guessing import evidence
from robot_id.tasks.guessing.grouping import Group
from robot_id.tasks.guessing.unit_guess import Numbers, Units, fitting_units

if TYPE_CHECKING:
    from robot_id.tasks.guessing.by_model import ByModel

Array = NDArray[np.float64]
# Rates that loggers have, Hz: an estimate within this share of one of them is that one.
RATES = (
    10, 20, 25, 30, 40, 50, 60, 62.5, 80, 100, 120, 125, 150, 200, 240, 250, 300, 400, 500, 600,
    800, 1000, 2000, 2500, 4000, 5000, 8000, 10000,
)  # fmt: skip
NEAR = 0.03
# Torque over that of the URDF's bodies for them to confirm a unit: their masses may be off.
CONFIRMED = (0.4, 2.5)
WELL = 0.7
# Currents of robots, A: beyond it they are milliamperes.
MOST_AMPERES = 100.0
# The rate that is written where nothing tells one.
RATE = 1000.0


@dataclass(frozen=True)
class Sizes:
    """
    Units of the channels.

    :param units: channel -> unit of a mapping.
    :param scales: channel -> (m,) factors besides.
    :param time_factor: seconds of one recorded unit of time.
    :param rate: Hz without a time column, and why it is not sure.
    """

    units: dict[str, str] = field(default_factory=dict)
    scales: dict[str, Array] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    time_factor: float | None = None
    rate: tuple[float, str] = (RATE, '')
    drive_gains: dict[str, float] = field(default_factory=dict)

    def factors(self, channel: str) -> Array:
        """(m,) SI over recorded unit of a channel."""
        known = units.OF_CHANNEL[channel]
        unit = known.get(self.units.get(channel, ''), 1.0)
        return np.asarray(unit * self.scales.get(channel, np.ones(1)))


def channel_sizes(
    robot: Robot, joints: Sequence[str], groups: dict[str, Group], time: Array, step: float,
    time_unit: str, others: Sequence[Group],
) -> Sizes:  # fmt: skip
    """
    Return units and factors of time, positions and velocities, and of their references.

    :param joints: of the columns of each group.
    :param step: of the clock, NaN without one.
    :param time_unit: by its name, '' without.
    :param others: groups that may be positions of the motors too.
    """
    at = np.array([robot.joint_names.index(name) for name in joints])
    sliding = robot.prismatic[at]
    position, velocity = groups['position'], groups.get('velocity')
    gear, notes, doubts = _gear(robot, at, position, others)
    named = {'time': time_unit, 'position': position.name.unit,
             'velocity': velocity.name.unit if velocity else ''}  # fmt: skip
    named = _named(named)
    if not np.isfinite(step):
        named['time'] = 's'  # rows: their rate comes from the velocity
    slopes = _slopes(position, velocity, time)
    found: dict[bool, Units] = {}
    for kind in (False, True):
        own = np.flatnonzero(sliding == kind)
        if not len(own):
            continue
        # Without a clock no slope says anything before the rate is known.
        slope = _median(slopes[own]) if np.isfinite(step) else np.nan
        numbers = _numbers(robot, at[own], position, velocity, own, slope, kind)
        if found:
            named = named | {'time': found[False].time}
        turned = gear[own] if gear is not None else None
        found[kind] = fitting_units(step, numbers, named, turned)
    main = found.get(False) or found[True]
    for each in found.values():
        doubts = {**each.unsure, **doubts}
    if position.name.unit == 'counts' or not main.explained:
        return _counted(
            robot, at, joints, groups, main, slopes, step, time_unit, named, doubts, notes
        )
    result = Sizes({}, {}, doubts, tuple(notes), units.TIME[main.time])
    if not np.isfinite(step):
        doubts.pop('time', None)
        if velocity is not None and 'velocity' not in named:
            doubts.setdefault('velocity', 'its name has no unit, and no clock tells it')
        rate, why = _rate(slopes, found, sliding, 'position' in doubts or 'velocity' in doubts)
        result = replace(result, time_factor=None if why else 1.0 / rate, rate=(rate, why))
    else:
        result.units['time'] = main.time
    _place(result, 'position', found, sliding, gear)
    if velocity is not None:
        _place(
            result, 'velocity', found, sliding, gear if _same_side(velocity, position) else None
        )
    return _with_references(result, groups, sliding)


def torque_sizes(
    robot: Robot, joints: Sequence[str], groups: dict[str, Group], effort: str,
    compared: ByModel | None, sizes: Sizes,
) -> Sizes:  # fmt: skip
    """
    Return the sizes with those of what drives the joints.

    :param effort: torque, current, duty or voltage.
    :param compared: recorded torques against the model, None where that could not be done.
    """
    group = groups['torque']
    unit, doubts = group.name.unit, dict(sizes.doubts)
    scale = compared.scale if compared is not None else np.full(len(group), np.nan)
    fitted = compared is not None and float(np.median(compared.r2)) > WELL
    known = scale[np.isfinite(scale)]
    typical = float(np.median(known)) if len(known) else np.nan
    if _unsigned(group, groups['position']):
        doubts['torque'] = 'no value is negative: its sign was not recorded'
    elif effort == 'torque' and unit in units.TORQUE:
        share = typical * units.TORQUE[unit]
        if group.name.side == 'motor' and not CONFIRMED[0] < share < CONFIRMED[1]:
            doubts.setdefault('torque', 'that of the motor: its gear ratio is needed as scale')
    elif effort == 'torque' and unit not in units.SIGNAL:
        unit, why = _torque_unit(typical, fitted, group)
        if why:
            doubts.setdefault('torque', why)
    if len(known) and fitted and effort == 'torque' and unit in units.TORQUE:
        turned = [name for name, s in zip(joints, scale) if s < -CONFIRMED[0]]
        if turned:
            told = f'{", ".join(turned)}: its sign is not that of the inertias in the URDF'
            doubts.setdefault('torque', told)
    gains: dict[str, float] = {}
    if effort == 'current':
        largest = float(np.nanmax(np.abs(group.values)))
        if not unit:
            unit = 'mA' if largest > MOST_AMPERES else 'A'
            doubts.setdefault('torque', f'its name has no unit, {unit} by its size')
    if unit in units.SIGNAL and effort in ('torque', 'current'):
        factor = units.SIGNAL[unit]
        estimated = [abs(1.0 / (s * factor)) if s else np.nan for s in scale]
        whole = fitted and bool(np.all(np.isfinite(estimated)))
        gains = {
            name: float(f'{gain:.2g}') if whole else 1.0 for name, gain in zip(joints, estimated)
        }
        doubts['drive_gain'] = (
            'estimated with the inertias of the URDF, N.m for one unit'
            if whole
            else f'not known: N.m for one {unit}, torques are in {unit} until they are given'
        )
    if effort in ('duty', 'voltage'):
        unit = unit or ('1' if effort == 'duty' else 'V')
        doubts['torque'] = f'a {effort}: the factor to a torque is not known'
    chosen = dict(sizes.units)
    if unit:
        chosen['torque'] = unit
    return replace(sizes, units=chosen, doubts=doubts, drive_gains=gains)


def _torque_unit(typical: float, fitted: bool, group: Group) -> tuple[str, str]:
    """Return the unit of a torque whose name has none, and why it is not sure."""
    if np.isfinite(typical):
        for unit in ('N.m', 'mN.m'):
            share = abs(typical) * units.TORQUE[unit]
            if CONFIRMED[0] < share < CONFIRMED[1]:
                if fitted and group.name.quantity == 'torque':
                    return unit, ''
                return unit, f'its name has no unit, {unit} by the inertias of the URDF'
    return 'N.m', 'its name has no unit: N.m, N.cm, mN.m, percent or amperes, and of which side?'


def _unsigned(group: Group, position: Group) -> bool:
    """Whether the joints move both ways and no value is negative."""
    both = any(np.min(np.diff(q)) < 0.0 < np.max(np.diff(q)) for q in position.values.T)
    return both and float(np.nanmin(group.values)) >= 0.0


def _slopes(position: Group, velocity: Group | None, time: Array) -> Array:
    """(m,) k of v = k dq/dt in recorded units, NaN where it is none."""
    found = np.full(len(position), np.nan)
    if velocity is None:
        return found
    for j, (q, v) in enumerate(zip(position.values.T, velocity.values.T)):
        if evidence.is_constant(q) or evidence.is_constant(v):
            continue
        slope, r2 = evidence.derivative(q, v, time)
        if r2 > evidence.DERIVATIVE:
            found[j] = slope
    return found


def _median(x: Array) -> float:
    return float(np.median(x[np.isfinite(x)])) if np.isfinite(x).any() else np.nan


def _gear(
    robot: Robot, at: NDArray[np.int64], position: Group, others: Sequence[Group]
) -> tuple[Array | None, list[str], dict[str, str]]:
    """Return the gear ratios (m,) where positions are those of motors, with notes and doubts."""
    if position.name.side != 'motor':
        for other in others:
            name = other.name
            if name.quantity == 'position' and name.side == 'motor' and not name.role:
                ratio = [_ratio(q, m) for q, m in zip(position.values.T, other.values.T)]
                shown = ', '.join(f'{r:.4g}' for r in ratio)
                return None, [f"the motors turn by {shown} ('{other.columns[0].label}')"], {}
        return None, [], {}
    gear = np.diag(robot.drives.gear)[at]
    if np.any(gear != 1.0):
        return gear, ['positions of the motors, with the gear ratios of the robot file'], {}
    told = 'the position of the motor, and the gear ratio is not known'
    return None, [], {'position': told, 'velocity': told}


def _ratio(q: Array, m: Array) -> float:
    a, b = q - q.mean(), m - m.mean()
    return float(a @ b / (a @ a)) if a @ a > 0.0 else np.nan


def _named(named: dict[str, str]) -> dict[str, str]:
    return {key: unit for key, unit in named.items() if unit}


def _numbers(
    robot: Robot, at: NDArray[np.int64], position: Group, velocity: Group | None,
    own: NDArray[np.int64], slope: float, sliding: bool,
) -> Numbers:  # fmt: skip
    q = position.values[:, own]
    limits = np.column_stack([robot.limits.lower[at], robot.limits.upper[at]])
    speed, bound = np.nan, np.inf
    if velocity is not None:
        fastest = np.max(np.abs(velocity.values[:, own]), axis=0)
        j = int(np.argmax(fastest / robot.limits.velocity[at])) if len(own) else 0
        j = j if np.isfinite(robot.limits.velocity[at][j]) else int(np.argmax(fastest))
        speed, bound = float(fastest[j]), float(robot.limits.velocity[at][j])
    return Numbers(q.min(axis=0), q.max(axis=0), limits, speed, bound, slope, sliding)


def _rate(
    slopes: Array, found: dict[bool, Units], sliding: NDArray[np.bool_], doubtful: bool
) -> tuple[float, str]:
    """Return the rate of rows without a clock: v = rate * dq/drow, in SI."""
    rates = []
    for j, slope in enumerate(slopes):
        each = found[bool(sliding[j])]
        rates.append(slope * units.VELOCITY[each.velocity] / units.POSITION[each.position])
    rate = _median(np.array(rates))
    if not np.isfinite(rate) or rate <= 0.0:
        return RATE, 'no column is the time and no velocity tells the rate'
    near = min(RATES, key=lambda each: abs(each - rate) / each)
    if abs(near - rate) < NEAR * near:
        rate = float(near)
    return float(f'{rate:.5g}'), 'from the velocity, whose unit is not sure' if doubtful else ''


def _place(
    sizes: Sizes, channel: str, found: dict[bool, Units], sliding: NDArray[np.bool_],
    gear: Array | None,
) -> None:  # fmt: skip
    """Put unit and factors of a channel into the sizes."""
    names = [getattr(found[bool(kind)], channel) for kind in sliding]
    scale = np.ones(len(sliding)) if gear is None else 1.0 / gear
    if len(set(names)) == 1:
        sizes.units[channel] = names[0]
    else:
        known = units.OF_CHANNEL[channel]
        scale = scale * np.array([known[name] for name in names])
    if np.any(scale != 1.0):
        sizes.scales[channel] = scale


def _same_side(a: Group, b: Group) -> bool:
    return a.name.side == b.name.side


def _with_references(sizes: Sizes, groups: dict[str, Group], sliding: NDArray[np.bool_]) -> Sizes:
    """Return the sizes with those of the references; those of what they are like."""
    for channel in ('reference_position', 'reference_velocity', 'reference_acceleration'):
        if channel in groups:
            _reference(sizes, channel, groups, sliding)
            own = sizes.doubts.get(channel.removeprefix('reference_'))
            if own:
                sizes.doubts.setdefault(channel, own)
    return sizes


def _reference(
    sizes: Sizes, channel: str, groups: dict[str, Group], sliding: NDArray[np.bool_]
) -> None:
    """Give a reference the unit of its name, else that of the measurement it is like."""
    group = groups[channel]
    if group.name.unit in units.OF_CHANNEL[channel]:
        sizes.units[channel] = group.name.unit
        return
    measured = channel.removeprefix('reference_')
    if measured == 'acceleration':
        unit = sizes.units.get('velocity', '')
        sizes.units[channel] = f'{unit.removesuffix("/s")}/s^2' if unit.endswith('/s') else ''
        sizes.doubts.setdefault(channel, 'its name has no unit')
        return
    if measured not in groups:
        sizes.units[channel] = f'{sizes.units.get("position", "rad")}/s'
        sizes.doubts.setdefault(channel, 'its name has no unit')
        return
    ratio = _ratio(groups[measured].values[:, 0], group.values[:, 0])
    if np.isfinite(ratio) and 0.8 < ratio < 1.25:
        if measured in sizes.units:
            sizes.units[channel] = sizes.units[measured]
        if measured in sizes.scales:
            sizes.scales[channel] = sizes.scales[measured]
    else:
        sizes.doubts.setdefault(channel, f'it is {ratio:.3g} times the measured one')


def _counted(
    robot: Robot, at: NDArray[np.int64], joints: Sequence[str], groups: dict[str, Group],
    main: Units, slopes: Array, step: float, time_unit: str, named: dict[str, str],
    doubts: dict[str, str], notes: list[str],
) -> Sizes:  # fmt: skip
    """Return sizes of positions in counts, or in a unit that no hypothesis explains."""
    time = time_unit or _usual_time(step)
    velocity = groups.get('velocity')
    result = Sizes({}, {}, {}, tuple(notes), units.TIME[time])
    if np.isfinite(step):
        result.units['time'] = time
        if not time_unit:
            result.doubts['time'] = 'by its rate alone'
    else:
        result = replace(result, rate=(RATE, 'no column is the time'), time_factor=None)
    if velocity is not None and velocity.name.side == 'motor':
        result.doubts['velocity'] = doubts.get('velocity', 'the velocity of the motor')
    speed = named.get('velocity', '')
    speed = speed if speed in units.VELOCITY else ''
    if velocity is not None and speed:
        result.units['velocity'] = speed
        if np.isfinite(slopes).all() and np.isfinite(step):
            factor = np.abs(slopes) * units.TIME[time] * units.VELOCITY[speed]
            result.scales['position'] = np.array([float(f'{f:.5g}') for f in factor])
            told = f'counts: rad for one from the velocity in {speed}; its zero is not known'
            result.doubts['position'] = told
            return _with_references(result, groups, robot.prismatic[at])
    elif velocity is not None:
        result.doubts['velocity'] = 'its unit is not known'
    q = groups['position'].values
    told = 'counts or positions of the motors: rad for one is not known'
    if position_is_whole := evidence.is_integer(q[:, 0]):
        told = 'counts: rad for one count, and its zero, are not known'
    result.doubts['position'] = doubts.get('position', told) if not position_is_whole else told
    result.scales['position'] = _fitting_counts(robot, at, q)
    return _with_references(result, groups, robot.prismatic[at])


def _usual_time(step: float) -> str:
    """Return the unit of time that gives a usual rate."""
    if not np.isfinite(step) or step <= 0.0:
        return 's'
    usual = [
        unit for unit in ('s', 'ms', 'us', 'ns') if 20 <= 1 / (step * units.TIME[unit]) <= 5e3
    ]
    return usual[0] if usual else 's'


def _fitting_counts(robot: Robot, at: NDArray[np.int64], q: Array) -> Array:
    """(m,) rad for one count, 2 pi / 2^k, the largest with which the motion fits the limits."""
    low, high = robot.limits.lower[at], robot.limits.upper[at]
    width = np.where(np.isfinite(high - low), high - low, 4.0 * np.pi)
    span = np.maximum(np.ptp(q, axis=0), 1e-9)
    k = np.ceil(np.log2(np.maximum(2.0 * np.pi * span / width, 1.0)))
    return np.asarray(
        [float(f'{f:.5g}') for f in 2.0 * np.pi / 2.0 ** np.max(k) * np.ones(len(q.T))]
    )
