"""The section about friction: what the rigid model leaves, and the fitted curve, by joint."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from robot_id.report.html import markup
from robot_id.report.html.svg import Chart, stride
from robot_id.tasks.friction.curves import FrictionCurve

_LEAD = (
    'Measured torque less that of the rigid model, against velocity, and the friction that was '
    'fitted. Points off the curve at low speed ask for another friction term; a cloud that is '
    'wide everywhere is not friction but what the rigid model leaves.'
)


def friction_section(curves: Sequence[FrictionCurve]) -> str:
    """Return a drawing for each joint, nothing without joints."""
    if not curves:
        return ''
    pictures = ''.join(
        f'<figure><figcaption><b>{escape(curve.joint)}</b></figcaption>{chart(curve)}</figure>'
        for curve in curves
    )
    legend = (
        '<p class="legend"><i class="measured"></i> measured <i class="predicted"></i> fitted</p>'
    )
    content = f'{legend}<div class="pairs">{pictures}</div>'
    return markup.section('friction', 'Friction', content, _LEAD)


def chart(curve: FrictionCurve) -> Chart:
    """Draw one joint."""
    at = stride(len(curve.velocity))
    everything = np.concatenate([curve.measured[at], curve.fitted])
    low, high = float(everything.min()), float(everything.max())
    pad = 0.05 * (high - low) or 1.0
    drawn = Chart(
        (float(curve.grid[0]), float(curve.grid[-1])),
        (low - pad, high + pad),
        f'friction of {curve.joint} against velocity',
        x_title=f'velocity, {curve.velocity_unit}',
        y_title=curve.torque_unit,
    )
    drawn.cloud(curve.velocity[at], curve.measured[at], 'cloud')
    # Two lines: friction steps at zero speed, a slope there would be drawn where none is.
    middle = len(curve.grid) // 2
    for side in (slice(0, middle), slice(middle + 1, None)):
        drawn.line(curve.grid[side], curve.fitted[side], 'predicted')
    return drawn
