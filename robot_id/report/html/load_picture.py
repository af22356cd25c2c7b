"""Pictures of a load: the body in its frame from three sides, and the torques it adds."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from robot_id.report.html.links import VIEWS, body_moments
from robot_id.report.html.svg import Chart, stride
from robot_id.robot import Robot
from robot_id.robot.parameters.units import torque_units
from robot_id.tasks.payload import PayloadResult
from robot_id.tasks.payload.torques import LoadTorques

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
