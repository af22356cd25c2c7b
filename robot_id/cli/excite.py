"""Verb `excite`: a motion that excites all parameters, within the robot's limits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_id import files
from robot_id.cli.compiling import compile_first
from robot_id.cli.console import check_writable, output, print_whole, progress_bar, save, warn
from robot_id.cli.shared_options import robot_option
from robot_id.exceptions import DataError, OptionError
from robot_id.excitation import CRITERION_TEXTS, FAMILIES

if TYPE_CHECKING:
    from robot_id.excitation.design import Excitation
    from robot_id.robot import Robot
    from robot_id.trajectory import Trajectory

KERNELS = (
    'regressor',
    'regressor_slopes',
    'rows_at',
    'slopes_at',
    'factor_of_rows',
    'pull_back_rows',
    'log_condition',
    'share_weights',
    'scaled_states',
    'slopes_before_scaling',
    'torque_penalty',
    'average_signs',
    'add_average_slopes',
    'unfold',
    'fold',
    'solve_joints',
    'newton_direction',
    'inverse_dynamics',
    'inertia_matrix',
    'simulate',
)
LARGEST_MARGIN_M = 100.0


@click.command()
@robot_option
@click.option(
    '--for',
    'purpose',
    type=click.Choice(['arm', 'payload']),
    default='arm',
    show_default=True,
    help='What to identify: all parameters, or a load on the last link.',
)
@click.option('--seconds', default=10.0, show_default=True, help='Length of the motion in s.')
@click.option('--budget', default=60.0, show_default=True, help='Time for the search in s.')
@click.option(
    '--evaluations',
    type=int,
    help='Evaluations per worker; replaces --budget and makes the search repeatable.',
)
@click.option(
    '--target', default=0.0, help='Stop early once the criterion is at or below this value.'
)
@click.option('--kind', type=click.Choice(FAMILIES), default='fourier', show_default=True)
@click.option('--order', type=int, help='Harmonics or polynomials; default: from the length.')
@click.option(
    '--criterion',
    type=click.Choice(list(CRITERION_TEXTS)),
    default='determinant',
    show_default=True,
    help='; '.join(f'{name}: {text}' for name, text in CRITERION_TEXTS.items()),
)
@click.option(
    '--use', 'fraction', default=0.9, show_default=True, help='Fraction of the limits to use.'
)
@click.option(
    '--limit',
    'limits',
    multiple=True,
    metavar='JOINT.QUANTITY=VALUE',
    help='Replace a limit: lower, upper, velocity, acceleration or torque.',
)
@click.option('--joint-weights', metavar='W,W,...', help='Weight of each joint in the criterion.')
@click.option(
    '--torque-noise',
    metavar='S[,S...]',
    help='Torque noise in N.m or N, to predict standard deviations.',
)
@click.option(
    '--after',
    'recordings',
    multiple=True,
    metavar='DATA',
    help='Recordings that you have: the motion is best together with them.',
)
@click.option('--mapping', help='Mapping of the recordings of --after.')
@click.option('--margin', default=0.02, show_default=True, help='Smallest clearance in m.')
@click.option('--no-clearance', is_flag=True, help='Do not check collisions.')
@click.option('--no-floor', is_flag=True, help='Do not check collisions with the floor.')
@click.option(
    '--rate', default=1000.0, show_default=True, help='Rate of the written motion in Hz.'
)
@click.option('--seed', default=0, show_default=True, help='Seed of the random starts.')
@click.option('--workers', default=2, show_default=True, help='Threads of the search.')
@click.option(
    '--posture',
    metavar='Q,Q,...',
    help='Home posture; approach and return moves are added.',
)
@click.option('--out', metavar='FILE.csv', help='Write FILE.csv, FILE.yaml and a bag FILE_bag.')
@click.option(
    '--json',
    'json_file',
    metavar='FILE',
    help='Write figures and standard deviations to a JSON file.',
)
@click.option('--plot', 'picture', metavar='FILE.png', help='Plot the motion and its limits.')
@click.option('--force', is_flag=True, help='Overwrite FILE.csv and FILE.yaml.')
def command(
    robot: str,
    purpose: str,
    seconds: float,
    budget: float,
    evaluations: int | None,
    target: float,
    kind: str,
    order: int | None,
    criterion: str,
    fraction: float,
    limits: tuple[str, ...],
    joint_weights: str | None,
    torque_noise: str | None,
    recordings: tuple[str, ...],
    mapping: str | None,
    margin: float,
    no_clearance: bool,
    no_floor: bool,
    rate: float,
    seed: int,
    workers: int,
    posture: str | None,
    out: str | None,
    json_file: str | None,
    picture: str | None,
    force: bool,
) -> None:
    """Find a motion that excites all parameters, and predict what it will identify."""
    from robot_id.api.verbs import excite
    from robot_id.robot import load_robot

    places = _places(out, force, json_file, picture)
    model = load_robot(robot)
    stand = _posture(posture, model.n)
    clearance_m = None if no_clearance else _margin(margin)
    compile_first(*KERNELS)
    with progress_bar() as progress:
        found = excite(
            model,
            seconds=seconds,
            budget_s=budget,
            clearance_m=clearance_m,
            floor=not no_floor,
            after=recordings or None,
            mapping=mapping,
            progress=progress,
            kind=kind,
            order=order,
            criterion=criterion,
            evaluations=evaluations,
            target=target,
            workers=workers,
            seed=seed,
            fraction=fraction,
            limits=dict(_limit(text) for text in limits),
            joint_weights=_numbers(joint_weights, '--joint-weights'),
            torque_std=_numbers(torque_noise, '--torque-noise'),
            rate_hz=rate,
            purpose=purpose,
        )
    _report(model, found)
    if places:
        motion = _with_ways(model, found, stand, margin=clearance_m, floor=not no_floor)
        _write_motion(motion, rate, model.joint_names, places)
    if json_file:
        save(lambda path: files.write_text(path, _json(found)), json_file)
    if picture:
        save(lambda path: _draw(found, path), picture)


def _margin(margin: float) -> float:
    if not 0.0 <= margin <= LARGEST_MARGIN_M:
        raise OptionError(f'--margin {margin:g} must lie between 0 and {LARGEST_MARGIN_M:g} m')
    return margin


def _json(found: Excitation) -> str:
    return json.dumps(found.to_dict(), indent=1) + '\n'


def _write_motion(
    motion: Trajectory, rate: float, names: tuple[str, ...], places: tuple[Path, Path, Path]
) -> None:
    """Write a motion as samples (csv and bag) and as its formula (yaml)."""
    from robot_id.trajectory.reference_bag import write_reference_bag
    from robot_id.trajectory.reference_csv import write_reference_csv
    from robot_id.trajectory.store import save_trajectory

    csv, yaml, bag = places
    reference = motion.sampled(rate)
    save(lambda path: write_reference_csv(reference, path, names), csv)
    save(lambda path: save_trajectory(motion, path, names), yaml)
    save(lambda path: write_reference_bag(reference, path, names), bag, folder=True)
    output().print(f'written: {csv}, {yaml}, {bag}', markup=False, soft_wrap=True)


def _draw(found: Excitation, path: str | Path) -> None:
    from robot_id.trajectory.plot import plot_motion

    title = f'{found.robot}: {CRITERION_TEXTS[found.options.criterion]}'
    plot_motion(found.trajectory, found.limits, path, title)


def _with_ways(
    robot: Robot, found: Excitation, posture: tuple[float, ...] | None, *, margin: float | None,
    floor: bool,
) -> Trajectory:  # fmt: skip
    """Return the motion with approach and return moves, if these are free of collisions."""
    from robot_id.excitation.clearance import clearance_of
    from robot_id.trajectory import blend

    if posture is None:
        return found.trajectory
    clearance = None if margin is None else clearance_of(robot, margin, floor)
    limits = found.limits
    bounds = (limits.velocity, limits.acceleration, limits.lower, limits.upper)
    whole = blend(found.trajectory, posture, *bounds)
    if clearance is not None:
        distance, pair = clearance.worst(whole.sampled(200.0).position)
        if distance < clearance.margin:
            near = f'{pair} would come within {distance:.3f} m'
            warn([f'approach and return moves are not written: {near}'])
            return found.trajectory
    return whole


def _report(robot: Robot, found: Excitation) -> None:
    from robot_id.report.tables import criterion_table, expected_table, not_excited

    console = output()
    print_whole(console, criterion_table(found))
    print_whole(console, expected_table(robot, found))
    console.print(
        f'{len(found.deviations.identified())} of {len(found.deviations.names)} parameters below '
        f'10 %; {found.search.evaluations} evaluations in {found.search.elapsed_s:.1f} s'
        + (' (stopped early)' if found.search.interrupted else ''),
        soft_wrap=True,
    )
    warn(not_excited(found.deviations))
    warn([note for note in found.notes if note.startswith('not optimised')])
    if found.rehearsal is not None and found.rehearsal.verdict != 'usable':
        reasons = found.rehearsal.reasons or ('',)
        warn([f'rehearsal: {found.rehearsal.verdict}: {reason}' for reason in reasons])
    for note in found.notes:
        console.print(f'note: {note}', markup=False, soft_wrap=True)
    if found.search.interrupted:
        warn(['the search was stopped: this is the best motion so far'])


def _places(out: str | None, force: bool, *others: str | None) -> tuple[Path, Path, Path] | None:
    """Return csv, yaml and bag; refuse before the search if they cannot be written."""
    check_writable(*others)
    if out is None:
        return None
    csv = Path(out)
    if csv.suffix != '.csv':
        raise OptionError(
            f"--out: '{out}' must end in .csv; the bag and the YAML file are written beside it"
        )
    places = csv, csv.with_suffix('.yaml'), csv.with_name(f'{csv.stem}_bag')
    check_writable(*places[:2])
    if not os.path.isdir(csv.resolve().parent):
        raise DataError(f'{csv}: no folder {csv.resolve().parent}')
    for place in places:
        if os.path.exists(place) and (not force or os.path.isdir(place)):
            advice = 'remove it' if os.path.isdir(place) else 'remove it or give --force'
            raise DataError(f'{place}: exists already, {advice}')
    return places


def _posture(text: str | None, n: int) -> tuple[float, ...] | None:
    """Return the home posture, one number for each joint."""
    posture = _numbers(text, '--posture')
    if posture is not None and len(posture) != n:
        raise OptionError(f'--posture: expected {n} numbers, got {len(posture)}')
    return posture


def _limit(text: str) -> tuple[str, float]:
    key, sign, value = text.partition('=')
    try:
        return key.strip(), float(value)
    except ValueError:
        what = 'no value' if not sign else f"'{value}' is not a number"
        raise OptionError(f"--limit '{text}': {what}; write joint.quantity=value") from None


def _numbers(text: str | None, option: str) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(','))
    except ValueError:
        raise OptionError(f"{option}: '{text}' is not a list of numbers") from None
