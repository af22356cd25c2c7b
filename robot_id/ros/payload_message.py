"""Loads as messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Inertia, Vector3
from numpy.typing import NDArray

from robot_id.control.runtime.payload import PayloadEstimate as Change
from robot_id.robot import Payload, Robot
from robot_id.tasks.payload.attachment import at_link
from robot_id_msgs.msg import PayloadEstimate

Array = NDArray[np.float64]
_INERTIA = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_UNKNOWN = (float('nan'),) * 6
# Names of the result file and of the message.
_NAMES = dict(
    zip(
        ('mass', 'centre_x', 'centre_y', 'centre_z', *(f'inertia_{k[1:]}' for k in _INERTIA)),
        ('mass', 'cx', 'cy', 'cz', *_INERTIA),
    )
)


def payload_of(robot: Robot, inertia: Inertia, link: str) -> tuple[Payload | None, str | None]:
    """
    Return the load of a request, None where it has no mass, and the joint whose link carries it.

    :param link: a link of the URDF (a TF frame), or the name of its joint; '' for the last one.
    """
    i = inertia
    if i.m == 0.0:
        return None, None
    payload = Payload(i.m, (i.com.x, i.com.y, i.com.z), (i.ixx, i.ixy, i.ixz, i.iyy, i.iyz, i.izz))
    bodies = robot.kinematics.body_names
    if not link or link in bodies or robot.urdf is None:
        return payload, link or None
    place = at_link(robot, link)
    return place.on_body(payload), bodies[place.body]


def identified_message(
    found: Mapping[str, Any], robot: str, frame: str, stamp: Time
) -> PayloadEstimate:
    """Return the load of a file that `payload` writes, given in a TF frame."""
    mass, deviation = _pair(found['mass'])
    centre = [_pair(each) for each in found['centre']]
    inertia = [_pair(each) for each in found['inertia']]
    first = [_pair(found['standard'][name]) for name in ('MX', 'MY', 'MZ')]
    message = PayloadEstimate(
        robot=robot,
        detected=bool(abs(mass) > 3.0 * deviation),
        strategy=found['strategy'],
        inertia=_inertia(mass, [v for v, _ in centre], [v for v, _ in inertia]),
        standard_deviation=_inertia(deviation, [s for _, s in centre], [s for _, s in inertia]),
        first_moment=_vector([v for v, _ in first]),
        first_moment_standard_deviation=_vector([s for _, s in first]),
        determined=[_NAMES[name] for name in found['determined']],
    )
    message.header.stamp, message.header.frame_id = stamp, frame
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
        strategy='running',
        inertia=_inertia(mass, centre, _UNKNOWN),
        standard_deviation=_inertia(change.deviation, spread if weighed else centre, _UNKNOWN),
        first_moment=_vector(p[6:9]),
        first_moment_standard_deviation=_vector(s[6:9]),
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


def _inertia(mass: float, centre: Any, inertia: Any) -> Inertia:
    six = dict(zip(_INERTIA, map(float, inertia), strict=True))
    return Inertia(m=float(mass), com=_vector(centre), **six)


def _vector(values: Any) -> Vector3:
    x, y, z = (float(v) for v in values)
    return Vector3(x=x, y=y, z=z)
