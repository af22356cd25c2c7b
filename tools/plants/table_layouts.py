"""
Recordings of robots in tables as users have them, with what each column truly is.

Names in ten languages, units, orders, gear sides, formats and columns of other things are drawn
from a seed; `judged` holds a guess against them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants.mujoco_arms import robots_folder

from robot_id import dynamics
from robot_id.data import units
from robot_id.robot import Robot, load_robot
from robot_id.tasks.guessing.guess import Guess

Array = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[2]
# URDFs as their makers publish them: some with grippers, two slide.
SHIPPED = ('urdf/tx40.urdf', 'urdf/scara.urdf', 'urdf/emps.urdf')
PUBLIC = (
    'panda_description/urdf/panda.urdf',
    'ur_description/urdf/ur5_robot.urdf',
    'ur_description/urdf/ur10_robot.urdf',
    'ur_description/urdf/ur5_gripper.urdf',
    'xarm_description/urdf/xarm7.urdf',
    'z1_description/urdf/z1.urdf',
    'asr_twodof_description/urdf/TwoDofs.urdf',
)
# time, position, velocity, torque, current, reference, joint, motor
LANGUAGES: dict[str, tuple[str, ...]] = {
    'english': ('time', 'position', 'velocity', 'torque', 'current', 'desired', 'joint', 'motor'),
    'short': ('t', 'q', 'dq', 'tau', 'cur', 'ref', 'j', 'mot'),
    'ur': ('timestamp', 'actual_q', 'actual_qd', 'actual_torque', 'actual_current', 'target',
           'joint', 'motor'),
    'german': ('Zeit', 'Winkel', 'Drehzahl', 'Drehmoment', 'Strom', 'Soll', 'Achse', 'Motor'),
    'french': ('temps', 'position', 'vitesse', 'couple', 'courant', 'consigne', 'axe', 'moteur'),
    'spanish': ('tiempo', 'posición', 'velocidad', 'par', 'corriente', 'referencia', 'eje',
                'motor'),
    'italian': ('tempo', 'angolo', 'velocità', 'coppia', 'corrente', 'riferimento', 'asse',
                'motore'),
    'dutch': ('tijd', 'hoek', 'snelheid', 'koppel', 'stroom', 'gewenst', 'as', 'motor'),
    'chinese': ('时间', '位置', '速度', '力矩', '电流', '目标', '关节', '电机'),
    'japanese': ('時間', '角度', '速度', 'トルク', '電流', '指令', '関節', 'モータ'),
    'russian': ('время', 'положение', 'скорость', 'момент', 'ток', 'задание', 'сустав',
                'двигатель'),
    'terse': ('t', 'pos', 'vel', 'eff', 'i', 'cmd', 'ax', 'm'),
}  # fmt: skip
STYLES = ('{w}{i}', '{w}_{i}', '{j}{i}_{w}', '{j} {i} {w}', '{w}[{i}]', '{w}_{j}{i}', '{w}.{name}',
          '{name}/{w}', '{name}_{w}')  # fmt: skip
UNIT_STYLES = ('', '', ' [{u}]', '_{u}', ' ({u})')
SUFFIX = {'rad/s': 'rad_s', 'deg/s': 'deg_s', 'N.m': 'Nm', 'mN.m': 'mNm', 'm/s': 'm_s'}
SECONDS = 6.0
OTHERS = ('status', 'tcp_x', 'tcp_y', 'robot_mode', 'digital_in', 'ft_fz', 'battery', 'line')


@dataclass
class Layout:
    """
    A file and what it holds.

    :param truth: name of a column (label of the guess) -> (channel, joint, SI over recorded unit).
    :param unknowable: channels whose factor nothing in the file tells.
    :param named: whether the columns have names with a meaning.
    """

    robot: Robot
    path: Path
    truth: dict[str, tuple[str, str, float]]
    rate: float
    joints: tuple[str, ...]
    kind: dict[str, Any] = field(default_factory=dict)
    unknowable: tuple[str, ...] = ()


def urdfs() -> list[Path]:
    """Return the URDFs that are there."""
    folder = robots_folder()
    public = [] if folder is None else [folder / each for each in PUBLIC]
    return [*(ROOT / each for each in SHIPPED), *public]


def motion(robot: Robot, rng: np.random.Generator, time: Array) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations within the limits, five sines a joint."""
    n = robot.n
    lower = np.where(np.isfinite(robot.limits.lower), robot.limits.lower, -3.0)
    upper = np.where(np.isfinite(robot.limits.upper), robot.limits.upper, 3.0)
    w = 2 * np.pi / SECONDS * np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, n)) / np.arange(1, 6)[:, None]
    angle = np.outer(time, w)
    q = np.sin(angle) @ a + np.cos(angle) @ b
    size = np.max(np.abs(q), axis=0)
    factor = rng.uniform(0.25, 0.9) * np.minimum(0.5 * (upper - lower), 3.0) / size
    middle = 0.5 * (lower + upper)
    dq = (np.cos(angle) * w) @ a - (np.sin(angle) * w) @ b
    ddq = -(np.sin(angle) * w**2) @ a - (np.cos(angle) * w**2) @ b
    factor = np.minimum(factor, 0.9 * robot.limits.velocity / np.max(np.abs(dq), axis=0))
    return q * factor + middle, dq * factor, ddq * factor


def torques(robot: Robot, rng: np.random.Generator, q: Array, dq: Array, ddq: Array) -> Array:
    """Return the torques of the URDF's bodies, rotors and friction."""
    rigid = dynamics.body_torques(robot, robot.kinematics.inertia, q, dq, ddq)
    size = np.std(rigid, axis=0) + 0.02
    friction = rng.uniform(0.1, 0.4, robot.n) * size * np.tanh(dq / 0.02)
    viscous = rng.uniform(0.05, 0.3, robot.n) * size * dq / (np.std(dq, axis=0) + 1e-9)
    tau = rigid + friction + viscous + 0.05 * rng.uniform(size=robot.n) * ddq
    return np.asarray(tau + 0.02 * np.std(tau, axis=0) * rng.normal(size=tau.shape))


def make_layout(folder: Path, seed: int, number: int) -> Layout:
    """Write a recording and return what it holds."""
    rng = np.random.default_rng([seed, number])
    found = urdfs()
    urdf = found[int(rng.integers(len(found)))]
    robot = load_robot(urdf)
    apart = [name for name in robot.joint_names if 'finger' in name or 'gripper' in name]
    if apart:
        robot = load_robot(urdf, lock=dict.fromkeys(apart, 0.0))
    rate = float(rng.choice([100.0, 125.0, 200.0, 250.0, 500.0, 1000.0]))
    time = np.arange(int(SECONDS * rate)) / rate
    q, dq, ddq = motion(robot, rng, time)
    tau = torques(robot, rng, q, dq, ddq)
    kind = {
        'language': str(rng.choice(list(LANGUAGES))),
        'style': STYLES[int(rng.integers(len(STYLES)))],
        'unit_style': UNIT_STYLES[int(rng.integers(len(UNIT_STYLES)))],
        'angle': str(rng.choice(['rad', 'rad', 'deg', 'deg', 'counts'], p=[0.3, 0.25, 0.2, 0.17,
                                                                           0.08])),
        'speed': str(rng.choice(['own', 'own', 'none', 'rpm'])),
        'time': str(rng.choice(['s', 's', 's', 'ms', 'us', 'epoch', 'none'])),
        'effort': str(rng.choice(['torque', 'torque', 'torque', 'current', 'both', 'mN.m'])),
        'reference': bool(rng.random() < 0.4),
        'motor': bool(rng.random() < 0.1),
        'order': str(rng.choice(['blocks', 'interleaved', 'shuffled'], p=[0.6, 0.25, 0.15])),
        'format': str(rng.choice(['csv', 'semicolon', 'tab', 'json', 'npz', 'bare'],
                                 p=[0.35, 0.2, 0.15, 0.1, 0.1, 0.1])),
        'repeated': bool(rng.random() < 0.06),
        'first': int(rng.integers(2)),
        'counter': bool(rng.random() < 0.15),
        'others': int(rng.integers(4)),
    }  # fmt: skip
    columns, unknowable = _columns(robot, rng, kind, time, q, dq, ddq, tau, rate)
    path = folder / f'log{number}.csv'
    path, truth = _write(path, rng, kind, columns)
    return Layout(robot, path, truth, rate, robot.joint_names, kind, unknowable)


@dataclass
class _Column:
    name: str
    values: Array
    channel: str = ''
    joint: str = ''
    factor: float = 1.0


def _columns(
    robot: Robot, rng: np.random.Generator, kind: dict[str, Any], time: Array, q: Array,
    dq: Array, ddq: Array, tau: Array, rate: float,
) -> tuple[list[_Column], tuple[str, ...]]:  # fmt: skip
    """Return the columns of a table, and what nobody can tell. Over 60 lines: a list of choices."""
    words = dict(zip(('time', 'position', 'velocity', 'torque', 'current', 'ref', 'joint',
                      'motor'), LANGUAGES[kind['language']]))  # fmt: skip
    n, unknowable = robot.n, []
    sliding = robot.prismatic
    angle = kind['angle']
    gear = rng.choice([-1.0, 1.0], n) * rng.uniform(50, 160, n) if kind['motor'] else np.ones(n)
    scale_q = np.array([{'rad': 1.0, 'deg': np.pi / 180, 'counts': 2 * np.pi / 2**19}[angle]
                        if not s else {'rad': 1.0, 'deg': 1e-3, 'counts': 1e-6}[angle]
                        for s in sliding]) / gear  # fmt: skip
    if angle == 'counts' or kind['motor']:
        unknowable += ['position', 'reference_position', *(['velocity'] if kind['motor'] else [])]
    lag = 0.004 * dq
    measured = (q - lag + 2e-5 * rng.normal(size=q.shape)) / scale_q
    if angle == 'counts':
        measured = np.round(measured)
    speed = kind['speed']
    own = {'rad': 'rad/s', 'deg': 'deg/s', 'counts': 'rad/s'}[angle]
    unit_v = 'rpm' if speed == 'rpm' else own
    scale_v = (
        np.array(
            [
                units.VELOCITY[unit_v]
                if not s
                else {'rad/s': 1.0, 'deg/s': 1e-3, 'rpm': 1e-3}[unit_v]
                for s in sliding
            ]
        )
        / gear
    )
    unit_q = {'rad': 'rad', 'deg': 'deg', 'counts': 'counts'}[angle]
    if sliding.all():
        unit_q = {'rad': 'm', 'deg': 'mm', 'counts': 'counts'}[angle]
        unit_v = {'rad/s': 'm/s', 'deg/s': 'mm/s', 'rpm': 'mm/s'}[unit_v]
    style_u = kind['unit_style'] if not (sliding.any() and not sliding.all()) else ''

    def named(word: str, unit: str, j: int, motor: bool = False) -> str:
        style, other = kind['style'], words['joint']
        word = f'{words["motor"]}_{word}' if motor else word
        text = style.format(w=word, i=j + kind['first'], j=other, name=robot.joint_names[j])
        shown = SUFFIX.get(unit, unit) if style_u.startswith('_') else unit.replace('N.m', 'Nm')
        return text + (style_u.format(u=shown) if unit else '')

    groups: list[list[_Column]] = []

    def add(channel: str, word: str, unit: str, values: Array, factor: Array, motor=False) -> None:
        groups.append([
            _Column(named(word, unit, j, motor), values[:, j], channel, robot.joint_names[j],
                    float(factor[j])) for j in range(n)
        ])  # fmt: skip

    add('position', words['position'], unit_q, measured, scale_q, kind['motor'])
    if speed != 'none':
        noisy = dq + 0.002 * np.std(dq, axis=0) * rng.normal(size=dq.shape)
        add('velocity', words['velocity'], unit_v, noisy / scale_v, scale_v, kind['motor'])
    effort = kind['effort']
    if effort in ('torque', 'both', 'mN.m'):
        unit = 'mN.m' if effort == 'mN.m' else 'N.m'
        factor = np.full(n, units.TORQUE[unit]) * gear
        if kind['motor']:
            unknowable.append('torque')
        if sliding.any():
            unit, factor = 'N' if sliding.all() else '', gear.copy()
        add('torque', words['torque'], unit, tau / factor, factor, kind['motor'])
    if effort in ('current', 'both'):
        gain = rng.uniform(3.0, 40.0, n)
        channel = 'torque' if effort == 'current' else ''
        if channel:
            unknowable.append('torque')
        add(channel, words['current'], 'A', tau / gain, gain)
    if kind['reference']:
        add('reference_position', f'{words["ref"]}_{words["position"]}', unit_q, q / scale_q,
            scale_q, kind['motor'])  # fmt: skip
    clock = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'epoch': 1.0, 'none': 0.0}[kind['time']]
    first: list[_Column] = []
    if kind['counter']:
        first.append(_Column('sample', np.arange(len(time), dtype=float)))
    if clock:
        jitter = 0.02 * rng.uniform(-1, 1, len(time)) / rate
        stamps = (time + jitter + (1.7e9 if kind['time'] == 'epoch' else 0.0)) / clock
        if kind['time'] == 'us':
            stamps = np.round(stamps)
        unit = {'epoch': 's'}.get(kind['time'], kind['time'])
        shown = words['time'] + (style_u.format(u=unit) if style_u else '')
        first.append(_Column(shown, stamps, 'time', '', clock))
    if kind['order'] == 'interleaved':
        body = [group[j] for j in range(n) for group in groups]
    else:
        body = [column for group in groups for column in group]
    extra = [_Column(name, _other(name, rng, time)) for name in
             rng.permutation(OTHERS)[: kind['others']].tolist()]  # fmt: skip
    if kind['order'] == 'shuffled' and kind['format'] != 'bare':
        body = [body[k] for k in rng.permutation(len(body))]
    columns = [*first, *body, *(extra if kind['format'] != 'bare' else [])]
    return columns, tuple(unknowable)


def _other(name: str, rng: np.random.Generator, time: Array) -> Array:
    """Return values of a column that is none of the joints'."""
    if name in ('tcp_x', 'tcp_y', 'ft_fz'):
        return np.asarray(0.3 * np.sin(2 * np.pi * 0.3 * time + rng.uniform(0, 6)))
    if name in ('battery', 'line'):
        return 24.0 + 0.1 * rng.normal(size=len(time))
    return np.asarray((time > 0.5 * time[-1]).astype(float))


def _write(
    path: Path, rng: np.random.Generator, kind: dict[str, Any], columns: list[_Column]
) -> tuple[Path, dict[str, tuple[str, str, float]]]:
    values = np.column_stack([column.values for column in columns])
    if kind['repeated']:
        values = np.repeat(values, 3, axis=0)
    names = [column.name for column in columns]
    form = kind['format']
    truth = {c.name: (c.channel, c.joint, c.factor) for c in columns if c.channel}
    if form in ('json', 'npz') and len(set(names)) == len(names):
        path = path.with_suffix(f'.{form}')
        if form == 'json':
            path.write_text(json.dumps({n: v.tolist() for n, v in zip(names, values.T)}))
        else:
            np.savez(path, **dict(zip(names, values.T)))
        return path, truth
    mark = {'semicolon': ';', 'tab': '\t'}.get(form, ',')
    rows = '\n'.join(mark.join(f'{v:.16g}' for v in row) for row in values)
    if form == 'semicolon':
        rows = rows.replace('.', ',')
    if form == 'bare':
        truth = {f'column {k + 1}': (c.channel, c.joint, c.factor)
                 for k, c in enumerate(columns) if c.channel}  # fmt: skip
        path.write_text(rows + '\n')
    else:
        path.write_text(mark.join(names) + '\n' + rows + '\n', encoding='utf-8')
    return path, truth


@dataclass(frozen=True)
class Judged:
    """
    A guess against the truth.

    :param wrong: channels that are read wrongly, with what is wrong.
    :param silent: those of them that are not marked.
    """

    wrong: dict[str, str]
    silent: dict[str, str]

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong


def judged(layout: Layout, guess: Guess) -> Judged:
    """Hold a guess against the truth; what the file cannot tell must be marked."""
    wrong: dict[str, str] = {}
    marked = guess.not_sure
    wanted = {channel for channel, _, _ in layout.truth.values()}
    for channel in ('time', 'position', 'velocity', 'torque', 'reference_position'):
        taken = {each.column.label: each for each in guess.of(channel)}
        true = {name: rest for name, rest in layout.truth.items() if rest[0] == channel}
        if channel not in wanted:
            if channel == 'time' and guess.rate_hz is not None and 'rate_hz' not in marked:
                if abs(guess.rate_hz - layout.rate) > 0.02 * layout.rate:
                    wrong['rate_hz'] = f'{guess.rate_hz:g} Hz instead of {layout.rate:g}'
            elif taken:
                wrong[channel] = f'{", ".join(taken)} is none'
            continue
        missing = [name for name in true if name not in taken]
        if missing or len(taken) != len(true):
            wrong[channel] = f'{", ".join(taken) or "nothing"} for {", ".join(true)}'
            continue
        for name, (_, joint, factor) in true.items():
            each = taken[name]
            if each.joint != joint:
                wrong[channel] = f'{name} is {joint}, not {each.joint}'
            if channel in layout.unknowable:
                if channel not in marked and 'drive_gain' not in marked:
                    wrong[channel] = f'{name}: its unit cannot be known'
                continue
            known = units.OF_CHANNEL.get(channel, units.TIME)
            ours = known.get(each.unit, 1.0) * each.scale
            if abs(ours / factor - 1.0) > 0.03:
                wrong[channel] = f'{name}: {ours:.4g} instead of {factor:.4g}'
    if set(guess.of('position') and [each.joint for each in guess.of('position')]) != set(
        layout.joints
    ):
        wrong['joints'] = 'other joints'
    told = set(marked)
    if 'drive_gain' in told:
        told.add('torque')
    silent = {key: why for key, why in wrong.items()
              if key not in told and 'joints' not in told}  # fmt: skip
    return Judged(wrong, silent)
