"""
The section about the links: masses, centres and inertia ellipsoids, identified beside the URDF's.

The drawing shows the homogeneous ellipsoid with the mass and inertia of a body: its semi-axes are
sqrt(5 e_k / m), with e_k the principal second moments about the centre.
"""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from robot_id.methods.consistency import standard_of
from robot_id.methods.result import Result
from robot_id.regression.consistency.prior import sensible
from robot_id.regression.consistency.pseudo_inertia import pseudo_inertia
from robot_id.report.html import markup
from robot_id.report.html.markup import number
from robot_id.robot import Robot

Array = NDArray[np.float64]
_SIZE, _BORDER = 340.0, 14.0
# Horizontal and vertical axis of each view, with their signs.
VIEWS = (('from the side', 0, 2), ('from the front', 1, 2), ('from above', 0, 1))
_LEAD = (
    'Every body with the links fixed to it, at the posture zero: the ellipsoid that has its mass '
    'and inertia, with its centre. Dashed are bodies whose mass the data leave open (share under '
    '50 %): they are mostly the prior.'
)


def link_section(robot: Robot, result: Result) -> str:
    """Return the links of a result with standard parameters; nothing for one without."""
    if result.standard_parameters is None:
        return ''
    rows = robot.standard.inertial_rows(standard_of(robot, result))
    given = robot.kinematics.inertia
    known = np.array([sensible(row) for row in given])
    table = markup.table(
        ('link of joint', 'mass, kg', 'URDF', 'centre, m', 'URDF', 'share of data in the mass'),
        _rows(robot, result, rows, given, known),
    )
    pictures = ''.join(
        f'<figure><figcaption>{title}</figcaption>'
        f'{view(robot, rows, given, known, mass_shares(robot, result), across, up)}</figure>'
        for title, across, up in VIEWS
    )
    legend = (
        '<p class="legend"><i class="predicted"></i> identified <i class="measured"></i> URDF</p>'
    )
    content = f'{legend}<div class="pairs">{pictures}</div>{table}'
    return markup.section('links', 'The links', content, _LEAD + _verdict(result))


def _verdict(result: Result) -> str:
    return f' The test: {escape(str((result.physical or {}).get("meaning", "")))}.'


def _rows(
    robot: Robot, result: Result, rows: Array, given: Array, known: NDArray[np.bool_]
) -> list[tuple[str, ...]]:
    shares = mass_shares(robot, result)
    found: list[tuple[str, ...]] = []
    for i, name in enumerate(robot.kinematics.body_names):
        found.append(
            (
                escape(name),
                number(float(rows[i, 9]), 3),
                number(float(given[i, 9]), 3) if known[i] else '–',
                _centre(rows[i]),
                _centre(given[i]) if known[i] else '–',
                f'{100 * shares[i]:.0f} %',
            )
        )
    return found


def mass_shares(robot: Robot, result: Result) -> Array:
    """(nb,) share of the data in every body's mass, 0 to 1."""
    shares = {p['name']: p['data_share'] for p in result.standard_parameters or ()}
    masses = [robot.standard_names[k] for k in robot.inertial_index[:, 9]]
    return np.array([float(shares.get(name, 0.0)) for name in masses])


def _centre(row: Array) -> str:
    return ', '.join(number(float(v), 2) for v in row[6:9] / row[9])


def view(
    robot: Robot,
    rows: Array,
    given: Array,
    known: NDArray[np.bool_],
    shares: Array,
    across: int,
    up: int,
) -> str:
    """Draw a side view: joints as a line, bodies as ellipses; metres to scale."""
    rotation, origin = placements(robot)
    plane = np.array([across, up])
    shapes = [('measured', int(i), given[i]) for i in np.flatnonzero(known)]
    shapes += [
        ('predicted' if shares[i] >= 0.5 else 'predicted open', i, rows[i])
        for i in range(len(rows))
    ]
    drawn = []
    for kind, i, row in shapes:
        centre, second = body_moments(row)
        centre = (origin[i] + rotation[i] @ centre)[plane]
        flat = (rotation[i] @ second @ rotation[i].T)[np.ix_(plane, plane)]
        # The outline of a projected ellipsoid: the same matrix, its two rows and columns.
        values, vectors = np.linalg.eigh(5.0 * flat)
        drawn.append((kind, i, centre, np.sqrt(np.maximum(values, 0.0)), vectors))
    corners = [origin[:, plane]]
    corners += [np.array([c - r.max(), c + r.max()]) for _, _, c, r, _ in drawn]
    points = np.vstack([*corners, np.zeros((1, 2))])
    low, span = points.min(axis=0), float(np.ptp(points, axis=0).max()) or 1.0
    scale = (_SIZE - 2 * _BORDER) / span

    def place(point: Array) -> tuple[float, float]:
        x, y = _BORDER + scale * (point - low)
        return float(x), float(_SIZE - y)

    parts = [
        f'<svg viewBox="0 0 {_SIZE:g} {_SIZE:g}" role="img" aria-label="links in the plane of '
        f'{"xyz"[across]} and {"xyz"[up]}">',
        f'<rect class="frame" width="{_SIZE:g}" height="{_SIZE:g}"/>',
    ]
    for i, u in enumerate(robot.kinematics.parent):
        start = np.zeros(2) if u < 0 else origin[u][plane]
        (x1, y1), (x2, y2) = place(start), place(origin[i][plane])
        parts.append(
            f'<line class="bone" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        )
    for kind, i, centre, radii, vectors in drawn:
        x, y = place(centre)
        angle = -np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
        rx, ry = scale * radii
        name = escape(robot.kinematics.body_names[i])
        parts.append(
            f'<g class="body {kind}"><title>{name}</title><ellipse cx="{x:.1f}" cy="{y:.1f}" '
            f'rx="{rx:.1f}" ry="{ry:.1f}" transform="rotate({angle:.1f} {x:.1f} {y:.1f})"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/></g>'
        )
    return ''.join(parts) + '</svg>'


def placements(robot: Robot) -> tuple[Array, Array]:
    """Return (nb, 3, 3) rotations and (nb, 3) origins of the body frames at the posture zero."""
    kinematics = robot.kinematics
    rotation, origin = np.empty_like(kinematics.rotation), np.empty_like(kinematics.translation)
    for i, u in enumerate(kinematics.parent):
        R, p = (np.eye(3), np.zeros(3)) if u < 0 else (rotation[u], origin[u])
        rotation[i] = R @ kinematics.rotation[i]
        origin[i] = p + R @ kinematics.translation[i]
    return rotation, origin


def body_moments(row: Array) -> tuple[Array, Array]:
    """Return centre (3,) and second moments (3, 3) about it, for a mass of one."""
    P = pseudo_inertia(row) / row[9]
    return P[:3, 3], P[:3, :3] - np.outer(P[:3, 3], P[:3, 3])
