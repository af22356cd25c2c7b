"""Tables of an exciting motion: the criteria it reaches, and what it will identify."""

from __future__ import annotations

import math

from rich.table import Table

from robot_id.excitation.criteria import CRITERIA
from robot_id.excitation.design import Excitation
from robot_id.excitation.deviations import Deviations
from robot_id.plain_table import number
from robot_id.robot import Robot
from robot_id.robot.parameters.units import torque_units, unit_of, units_of

# Parameters that are named in a line.
_NAMED = 8


def criterion_table(found: Excitation) -> Table:
    """Return each criterion of the best random motion and of the optimised one."""
    before, after = found.search.before, found.search.figures
    table = Table(title=f'{found.robot}: {found.trajectory.kind}, {found.trajectory.duration:g} s')
    table.add_column('criterion')
    table.add_column(f'best of {found.search.random_motions} random', justify='right')
    table.add_column('optimised', justify='right')
    for name, criterion in CRITERIA.items():
        table.add_row(criterion.label, number(before[name], 4), number(after[name], 4))
    return table


def expected_table(robot: Robot, found: Excitation) -> Table:
    """Return the standard deviation to expect of each parameter; one may not be excited."""
    forces = list(dict.fromkeys(torque_units(robot)))
    noise = f'{", ".join(f"{s:g}" for s in found.torque_std)} {" or ".join(forces)}'
    units = dict(zip(robot.base.names, units_of(robot)))
    table = Table(title=f'expected standard deviations for a torque noise of {noise}')
    for header in ('name', 'expected', 'standard deviation', 'unit', 'percent'):
        table.add_column(header, justify='left' if header in ('name', 'unit') else 'right')
    known = found.deviations
    for name, value, std, percent in zip(known.names, known.expected, known.std, known.percent):
        spread = number(std, 3) if math.isfinite(std) else 'not excited'
        style = None if percent < 10.0 else 'dim'
        unit = units.get(name) or unit_of(name.removeprefix('load '))
        table.add_row(name, number(value, 4), spread, unit, number(percent, 3), style=style)
    return table


def not_excited(known: Deviations) -> list[str]:
    """Return a line on the parameters that a motion does not excite, with the remedy."""
    names = [name for name, std in zip(known.names, known.std) if not math.isfinite(std)]
    if not names:
        return []
    shown = ', '.join(names[:_NAMED]) + (' ...' if len(names) > _NAMED else '')
    return [
        f'{len(names)} of {len(known.names)} parameters are not excited by this motion ({shown}): '
        'make it longer or its order higher, or widen the limits of the joints that '
        'hardly move'
    ]
