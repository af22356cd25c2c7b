"""Verb `robots`: lists the robots, or describes one."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from robot_id import files
from robot_id.cli.console import check_writable, output, print_whole, save, warn
from robot_id.exceptions import RobotIdError

if TYPE_CHECKING:
    from robot_id.robot import Robot


@click.command()
@click.argument('name', required=False)
@click.option(
    '--operations', is_flag=True, help='Show what each function of NAME costs as generated code.'
)
@click.option('--json', 'json_file', metavar='FILE', help='Also write it to a JSON file.')
def command(name: str | None, operations: bool, json_file: str | None) -> None:
    """List the shipped robots, or describe the robot NAME (a robot file or a URDF too)."""
    from robot_id.dynamics.generated.evaluate import operation_counts
    from robot_id.robot import load_robot
    from robot_id.robot.summary import summarise

    check_writable(json_file)
    console = output()
    found: Any
    if operations and not name:
        raise click.UsageError('--operations needs the NAME of a robot')
    if name:
        robot = load_robot(name)
        found = summarise(robot)
        if operations:
            found['operations'] = operation_counts(robot)
            print_whole(console, _operations(robot, found['operations']))
        else:
            _describe(console, robot, found)
    else:
        found = _list(console)
    if json_file:
        save(lambda path: files.write_text(path, json.dumps(found, indent=1) + '\n'), json_file)


def _list(console: Console) -> list[dict[str, Any]]:
    from robot_id.robot import load_robot
    from robot_id.robot.files.source import robot_files

    table = Table(title='robot-id robots NAME shows one of them')
    table.add_column('robot', no_wrap=True)
    table.add_column('description')
    for header in ('joints', 'parameters'):
        table.add_column(header, justify='right', no_wrap=True)
    listed, broken = [], []
    for name in robot_files():
        try:
            robot = load_robot(name)
            entry = {
                'name': name,
                'description': robot.description.description,
                'joints': robot.n,
                'base_parameters': len(robot.base),
            }
        except RobotIdError as error:
            broken.append(str(error))
            continue
        listed.append(entry)
        text = robot.description.description
        table.add_row(name, text, str(robot.n), str(len(robot.base)))
    console.print(table)
    warn(broken)
    return listed


def _describe(console: Console, robot: Robot, found: dict[str, Any]) -> None:
    head = f'{robot.name}: {found["description"] or "no description"}'
    console.print(head, markup=False, soft_wrap=True)
    gravity = ', '.join(f'{g:g}' for g in found['gravity'])
    console.print(f'gravity [{gravity}] m/s^2', markup=False)
    print_whole(console, _joints(robot, found))
    print_whole(console, _kinematics(found))
    if found['mimics']:
        for mimic in found['mimics']:
            console.print(f'mimic joint: {mimic}', markup=False)
    for note in found['snapped']:
        console.print(f'snapped: {note}', markup=False, soft_wrap=True)
    if found['coupling']:
        rows = '; '.join(' '.join(f'{x:g}' for x in row) for row in found['coupling'])
        console.print(f'motor speeds = [{rows}] * joint speeds', markup=False, soft_wrap=True)
    if found['loops']:
        print_whole(console, _loops(found))
    print_whole(console, _parameters(robot, found))


def _operations(robot: Robot, counts: dict[str, dict[str, dict[str, int]]]) -> Table:
    table = Table(title=f'{robot.name}: additions and multiplications for one state')
    table.add_column('function')
    for header in ('generated +', '*', 'generic +', '*'):
        table.add_column(header, justify='right')
    for function, both in counts.items():
        cells = (str(x) for kind in ('generated', 'generic') for x in both[kind].values())
        table.add_row(function.replace('_', ' '), *cells)
    return table


def _joints(robot: Robot, found: dict[str, Any]) -> Table:
    from robot_id.robot.parameters.units import position_units, torque_units

    table = Table(title='joints and limits (- if not given)')
    for header in ('joint', 'type', 'lower', 'upper', 'velocity', 'acceleration', 'torque'):
        table.add_column(header, justify='left' if header in ('joint', 'type') else 'right')
    table.add_column('rotor')
    table.add_column('friction')
    for joint, unit, force in zip(found['joints'], position_units(robot), torque_units(robot)):
        units = {'velocity': f'{unit}/s', 'acceleration': f'{unit}/s2', 'torque': force}
        limits = (
            with_unit(joint[key], units.get(key, unit))
            for key in ('lower', 'upper', 'velocity', 'acceleration', 'torque')
        )
        friction = ' '.join(joint['friction']) or '-'
        table.add_row(joint['name'], joint['type'], *limits, joint['rotor_inertia'], friction)
    return table


def _kinematics(found: dict[str, Any]) -> Table:
    if found['mdh']:
        heads = ('joint', 'alpha (rad)', 'd (m)', 'theta (rad)', 'r (m)')
        table = Table(*heads, title='modified Denavit-Hartenberg')
        for joint, row in zip(found['joints'], found['mdh']):
            variable = 'r' if row['type'] == 'prismatic' else 'theta'
            cells = (
                (f'{row[key]:.5g} + ' if row[key] else '') + 'q'
                if key == variable
                else f'{row[key]:.5g}'
                for key in ('alpha', 'd', 'theta', 'r')
            )
            table.add_row(joint['name'], *cells)
        return table
    table = Table(
        'body of', 'parent', 'position in the parent (m)', 'roll pitch yaw (rad)', 'axis'
    )
    table.title = 'kinematics of the URDF'
    for body in found['bodies']:
        cells = (_vector(body[key]) for key in ('xyz', 'rpy', 'axis'))
        table.add_row(body['joint'], body['parent'] or 'base', *cells)
    return table


def _loops(found: dict[str, Any]) -> Table:
    table = Table(
        'loop', 'law', 'rate (Hz)', 'bandwidth (rad/s)', 'damping', title='control loops'
    )
    for name, loop in found['loops'].items():
        bandwidth, damping = (_vector(loop[key]) for key in ('bandwidth', 'damping'))
        table.add_row(name, loop['law'], f'{loop["rate_hz"]:g}', bandwidth, damping)
    return table


def _parameters(robot: Robot, found: dict[str, Any]) -> Table:
    from robot_id.robot.parameters.units import units_of

    entries = found['base_parameters']
    title = f'{len(entries)} base parameters of {len(robot.standard_names)} standard ones'
    table = Table('name', 'grouping', title=title)
    known = any(entry['truth'] is not None for entry in entries)
    if known:
        table.add_column('truth', justify='right')
    table.add_column('unit')
    for entry, unit in zip(entries, units_of(robot)):
        row = [entry['name'], entry['grouping'].split(' = ', 1)[1]]
        table.add_row(*row, *([f'{entry["truth"]:.6g}'] if known else []), unit)
    return table


def with_unit(value: float | None, unit: str) -> str:
    """Return a limit with its unit, '-' where there is none."""
    return '-' if value is None or math.isinf(value) else f'{value:.5g} {unit}'


def _vector(values: list[float]) -> str:
    return ' '.join(f'{x + 0.0:.5g}' for x in values)
