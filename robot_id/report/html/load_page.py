"""The pages of loads, with pictures of body and torques, and of drive gains; 95 % intervals."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id import files
from robot_id.report.html import markup
from robot_id.report.html.links import VIEWS, body_moments
from robot_id.report.html.markup import number
from robot_id.report.html.provenance import Provenance
from robot_id.report.html.sections import provenance_section
from robot_id.report.html.svg import Chart, stride
from robot_id.robot import Robot
from robot_id.robot.parameters.units import torque_units
from robot_id.tasks.drive_gains import DriveGains
from robot_id.tasks.payload import PayloadIdentification, PayloadResult
from robot_id.tasks.payload.result import NAMES, UNITS, LoadTorques
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
Array = NDArray[np.float64]
_SIZE, _BORDER = 300.0, 24.0
# Half width of a 95 % interval in standard deviations.
HALF = 1.96


def body_pictures(load: PayloadResult) -> str:
    """Return the three views, nothing for a load that the motion does not determine."""
    known = np.isfinite(load.values).all() and np.isfinite(load.deviations).all()
    if not known or load.values[0] <= 0.0:
        return ''
    views = ''.join(
        f'<figure><figcaption>{title}</figcaption>{_view(load, across, up)}</figure>'
        for title, across, up in VIEWS
    )
    return f'<div class="pairs">{views}</div>'


def _view(load: PayloadResult, across: int, up: int) -> str:
    """Draw the ellipsoid with the mass and inertia of the load, and its centre with bars."""
    plane = [across, up]
    centre, second = body_moments(load.standard)
    values, vectors = np.linalg.eigh(5.0 * second[np.ix_(plane, plane)])
    radii = np.sqrt(np.maximum(values, 0.0))
    middle, half = centre[plane], HALF * load.deviations[1:4][plane]
    reach = max(float(np.abs(middle).max() + radii.max()), 1e-3)
    scale = (_SIZE / 2 - _BORDER) / reach

    def place(x: float, y: float) -> tuple[float, float]:
        return _SIZE / 2 + scale * x, _SIZE / 2 - scale * y

    def line(kind: str, a: tuple[float, float], b: tuple[float, float]) -> str:
        (x1, y1), (x2, y2) = place(*a), place(*b)
        return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'

    (x, y), (rx, ry) = place(*middle), scale * radii
    angle = -np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
    names = f'{"xyz"[across]} and {"xyz"[up]}'
    return ''.join([
        f'<svg viewBox="0 0 {_SIZE:g} {_SIZE:g}" role="img" aria-label="load, {names}">',
        f'<rect class="frame" width="{_SIZE:g}" height="{_SIZE:g}"/>',
        line('grid', (-reach, 0.0), (reach, 0.0)), line('grid', (0.0, -reach), (0.0, reach)),
        f'<text class="end" x="{_SIZE - 4:g}" y="{_SIZE / 2 - 5:g}">{"xyz"[across]}, '
        f'{reach:.2g} m</text><text x="{_SIZE / 2 + 5:g}" y="12">{"xyz"[up]}</text>',
        f'<g class="body predicted"><ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{rx:.1f}" '
        f'ry="{ry:.1f}" transform="rotate({angle:.1f} {x:.1f} {y:.1f})"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/></g>',
        line('bone', (middle[0] - half[0], middle[1]), (middle[0] + half[0], middle[1])),
        line('bone', (middle[0], middle[1] - half[1]), (middle[0], middle[1] + half[1])),
        '</svg>',
    ])  # fmt: skip


def torque_pictures(robot: Robot, torques: LoadTorques) -> str:
    """Return measured against predicted torque of the load, for every joint that feels it."""
    pictures = []
    for j, (name, unit) in enumerate(zip(robot.joint_names, torque_units(robot))):
        known = np.isfinite(torques.measured[:, j])
        x, y = torques.predicted[known, j], torques.measured[known, j]
        if not x.size or not np.ptp(x) > 0.0:
            continue
        low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
        chart = Chart(
            (low, high), (low, high), f'torque of the load at {name}',
            x_title=f'by the load, {unit}', y_title=f'measured, {unit}',
        )  # fmt: skip
        at = stride(len(x))
        chart.line((low, high), (low, high), 'predicted')
        chart.cloud(x[at], y[at], 'cloud')
        pictures.append(f'<figure><figcaption><b>{escape(name)}</b></figcaption>{chart}</figure>')
    return f'<div class="pairs">{"".join(pictures)}</div>' if pictures else ''


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
