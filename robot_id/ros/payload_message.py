"""Loads as messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Inertia, Vector3
from numpy.typing import NDArray

from robot_id.control.payload import PayloadEstimate as Change
from robot_id.model import Payload
from robot_id_msgs.msg import PayloadEstimate

Array = NDArray[np.float64]
_INERTIA = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
# Names of the result file and of the message.
_NAMES = dict(
    zip(
        ('mass', 'centre_x', 'centre_y', 'centre_z', *(f'inertia_{k[1:]}' for k in _INERTIA)),
        ('mass', 'cx', 'cy', 'cz', *_INERTIA),
    )
)


def payload_of(inertia: Inertia) -> Payload | None:
    """Return the load of a request, None where it has no mass."""
    i = inertia
    if i.m == 0.0:
        return None
    return Payload(i.m, (i.com.x, i.com.y, i.com.z), (i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz))


def weighed_message(found: Mapping[str, Any], robot: str, stamp: Time) -> PayloadEstimate:
    """Return the load of a file that `payload` writes."""
    mass, deviation = _pair(found['mass'])
    centre = [_pair(each) for each in found['centre']]
    inertia = [_pair(each) for each in found['inertia']]
    first = [_pair(found['standard'][name]) for name in ('MX', 'MY', 'MZ')]
    message = PayloadEstimate(
        robot=robot,
        detected=bool(abs(mass) > 3.0 * deviation),
        way=found['way'],
        mass=mass,
        mass_standard_deviation=deviation,
        first_moment=_vector([v for v, _ in first]),
        first_moment_standard_deviation=_vector([s for _, s in first]),
        centre=_vector([v for v, _ in centre]),
        centre_standard_deviation=_vector([s for _, s in centre]),
        inertia=[v for v, _ in inertia],
        inertia_standard_deviation=[s for _, s in inertia],
        determined=[_NAMES[name] for name in found['determined']],
    )
    message.header.stamp, message.header.frame_id = stamp, found['frame']
    return message


def running_message(change: Change, robot: str, frame: str, stamp: Time) -> PayloadEstimate:
    """Return the message of a load that a running estimator has noticed."""
    p, s = change.standard, change.standard_deviations
    mass = float('nan') if change.mass is None else change.mass
    weighed = change.significant and change.mass is not None
    centre = p[6:9] / mass if weighed else np.full(3, np.nan)
    spread = np.hypot(s[6:9], centre * change.deviation) / abs(mass)
    message = PayloadEstimate(
        robot=robot,
        detected=bool(change.significant),
        way='running',
        mass=mass,
        mass_standard_deviation=change.deviation,
        first_moment=_vector(p[6:9]),
        first_moment_standard_deviation=_vector(s[6:9]),
        centre=_vector(centre),
        centre_standard_deviation=_vector(spread if weighed else centre),
        inertia=[float('nan')] * 6,
        inertia_standard_deviation=[float('nan')] * 6,
        determined=['mass'] if weighed else [],
        names=[name for name, _, _ in change.changes],
        changes=[value for _, value, _ in change.changes],
        standard_deviations=[std for _, _, std in change.changes],
    )
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def _pair(pair: Mapping[str, float | None]) -> tuple[float, float]:
    value, std = pair['value'], pair['std']
    return (
        float('nan') if value is None else float(value),
        float('nan') if std is None else float(std),
    )


def _vector(values: Any) -> Vector3:
    x, y, z = (float(v) for v in values)
    return Vector3(x=x, y=y, z=z)
