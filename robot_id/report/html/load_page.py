"""The pages of loads and of drive gains: values with their 95 % intervals."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from robot_id import files
from robot_id.report.html import markup
from robot_id.report.html.load_picture import HALF, body_pictures, torque_pictures
from robot_id.report.html.markup import number
from robot_id.report.html.provenance import Provenance
from robot_id.report.html.sections import provenance_section
from robot_id.robot import Robot
from robot_id.tasks.drive_gains import DriveGains
from robot_id.tasks.payload import PayloadIdentification, PayloadResult
from robot_id.tasks.payload.result import NAMES, UNITS
from robot_id.texts import STRATEGIES

HEADS = ('', 'value', '95 % from', 'to', 'unit', 'determined')
_PICTURED = (
    'Where the motion determines all of it, the pictures show the ellipsoid with this mass and '
    'inertia in its frame, and the 95 % interval of its centre.'
)
_TORQUES = (
    'What the recording holds beyond the arm, against what the load explains of it: one point for '
    'each sample of each joint that feels the load. Near the line the load explains the torque.'
)


def write_load_report(
    path: str | Path, robot: Robot, found: PayloadIdentification, source: Provenance
) -> None:
    """
    Write the page of an identified payload.

    :param source: how to repeat it.
    """
    first = found.loads[0]
    cards = [
        markup.card('mass', f'{number(first.values[0])} kg', _half(first.deviations[0], 'kg')),
        markup.card('strategy', found.strategy, STRATEGIES[found.strategy]),
        markup.card('determined', f'{len(first.determined)} of 10', 'parameters of the load'),
    ]
    parts = [
        markup.section(
            f'load{_place(found, k)}',
            f'Load {k + 1}' if len(found.loads) > 1 else 'Load',
            _load_table(load) + body_pictures(load),
            escape(f'In {load.frame}; {load.recording}. Inertia about the centre. {_PICTURED}'),
        )
        for k, load in enumerate(found.loads)
    ]
    parts += [
        markup.section(f'torques{_place(found, k)}', 'The torques of the load', pictures, _TORQUES)
        for k, load in enumerate(found.loads)
        if load.torques is not None and (pictures := torque_pictures(robot, load.torques))
    ]
    notes = [
        f'{STRATEGIES[found.strategy]}: {found.reason}',
        *(n for load in found.loads for n in load.notes),
    ]
    parts.append(markup.section('strategy', 'How it was found', markup.lines(notes)))
    parts.append(provenance_section(source))
    head = markup.cards(cards, found.warnings)
    files.write_text(path, markup.page(f'{robot.name}, load', head, parts))


def write_gain_report(
    path: str | Path, robot: Robot, found: DriveGains, source: Provenance
) -> None:
    """
    Write the page of drive gains.

    :param source: how to repeat it.
    """
    rows = [
        (
            escape(name), number(g), number(g - HALF * s), number(g + HALF * s), number(t),
            '–' if w is None else number(w),
        )
        for name, g, s, t, w in zip(
            found.joint_names, found.gains, found.deviations, found.total, found.written
        )
    ]  # fmt: skip
    heads = ('joint', 'gain', '95 % from', 'to', 'total least squares', 'drive_gain')
    cards = [
        markup.card('known load', f'{number(found.mass)} kg'),
        markup.card('worst interval', f'{number(found.worst_percent, 3)} %', 'half width'),
    ]
    lead = 'Factor that the recorded torque is to be multiplied by, with its 95 % interval.'
    parts = [
        markup.section('gains', 'Drive gains', markup.table(heads, rows), lead),
        provenance_section(source),
    ]
    head = markup.cards(cards, found.warnings)
    files.write_text(path, markup.page(f'{robot.name}, drive gains', head, parts))


def _load_table(load: PayloadResult) -> str:
    rows = [
        (
            escape(name), number(value), number(value - HALF * std), number(value + HALF * std),
            unit, 'yes' if name in load.determined else 'no',
        )
        for name, value, std, unit in zip(NAMES, load.values, load.deviations, UNITS)
    ]  # fmt: skip
    return markup.table(HEADS, rows)


def _place(found: PayloadIdentification, k: int) -> str:
    return f'-{k + 1}' if len(found.loads) > 1 else ''


def _half(std: float, unit: str) -> str:
    return f'± {number(HALF * std, 2)} {unit}' if np.isfinite(std) else 'not determined'
