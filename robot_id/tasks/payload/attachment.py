"""
Where a load hangs: a link, a pose in it, and the columns of the load's ten parameters.

A part of the load may be known, such as the gripper that holds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DataError, DescriptionError, OptionError, did_you_mean, shorten
from robot_id.methods.result_form import read_json
from robot_id.regression.consistency.pseudo_inertia import inertial_row, pseudo_inertia
from robot_id.robot import Payload, Robot
from robot_id.robot.files.urdf import load_model
from robot_id.robot.payload import payload_columns
from robot_id.tasks.payload.result import STANDARD
from robot_id.texts import LOAD_FORM, POSE_FORM, one_line

Array = NDArray[np.float64]
# No load of an arm has a larger mass, distance or inertia (kg, m, kg m2).
LARGEST = 1e6


@dataclass(frozen=True)
class Attachment:
    """
    The frame in which a load is given.

    :param body: index of the moving body that carries it.
    :param rotation: (3, 3) axes of the frame in the frame of the body.
    :param translation: (3,) its origin there, m.
    :param name: what to call it.
    """

    body: int
    rotation: Array = field(default_factory=lambda: np.eye(3))
    translation: Array = field(default_factory=lambda: np.zeros(3))
    name: str = 'the last link'

    def columns(self, robot: Robot) -> Array:
        """(b, 10) change of the base parameters for each parameter of a load in this frame."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.rotation, self.translation
        moved = inertial_row(X @ pseudo_inertia(np.eye(10)) @ X.T)
        return payload_columns(robot, self.body) @ moved.T

    def on_body(self, payload: Payload) -> Payload:
        """Return a payload given in this frame as one given in the frame of its body."""
        R = self.rotation
        centre = R @ np.asarray(payload.centre) + self.translation
        xx, xy, xz, yy, yz, zz = payload.inertia
        about = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        x, y, z = map(float, centre)
        a, b, c, d, e, f = map(float, about[np.triu_indices(3)])
        return Payload(payload.mass, (x, y, z), (a, b, c, d, e, f))


def last_link(robot: Robot) -> Attachment:
    """Return the frame of the last link."""
    return Attachment(robot.kinematics.own_body(robot.n - 1))


def link_frame(robot: Robot) -> str:
    """Return the TF frame in which a load on the last link is given; '' where there is no URDF."""
    if robot.urdf is None:
        return ''
    kinematics = robot.kinematics
    model = load_model(robot.urdf, dict(kinematics.locked), robot.description.snap)
    joint = model.getJointId(kinematics.body_names[last_link(robot).body])
    for frame in model.frames:
        carried = frame.type == pin.FrameType.BODY and frame.parentJoint == joint
        if carried and frame.placement.isIdentity(1e-9):
            return str(frame.name)
    return ''


def at_pose(robot: Robot, text: str) -> Attachment:
    """Return a frame in that of the last link, from 'x,y,z,roll,pitch,yaw' (m, rad)."""
    try:
        values = [float(word) for word in text.split(',')]
    except ValueError:
        values = []
    if len(values) != 6 or not np.all(np.isfinite(values)):
        raise OptionError(
            f"pose: '{text}' is not {POSE_FORM}, six numbers in m and rad", key='pose', value=text
        )
    rotation = pin.rpy.rpyToMatrix(*values[3:])
    return Attachment(
        last_link(robot).body, rotation, np.array(values[:3]), f'the last link, pose {text}'
    )


def at_link(robot: Robot, link: str) -> Attachment:
    """
    Return the frame of a link, fixed ones of a URDF (tool0, flange) included.

    :param link: a link of the URDF, or the name of a joint for the frame of the body it moves.
    """
    bodies = robot.kinematics.body_names
    if link in bodies:
        return Attachment(bodies.index(link), name=f"the link of joint '{link}'")
    if robot.urdf is None:
        raise DescriptionError(f"{robot.name} has no URDF with a link '{link}': give a pose")
    model = load_model(robot.urdf, dict(robot.kinematics.locked), robot.description.snap)
    links = {frame.name: frame for frame in model.frames if frame.type == pin.FrameType.BODY}
    if link not in links:
        raise DescriptionError(
            f"{robot.name}: no link '{link}', {did_you_mean(link, [*links, *bodies])}"
        )
    frame = links[link]
    joint = model.names[frame.parentJoint]
    if joint not in bodies:
        raise DescriptionError(
            f"{robot.name}: link '{link}' does not move, a load on it has no effect"
        )
    axes, origin = frame.placement.rotation.copy(), frame.placement.translation.copy()
    return Attachment(bodies.index(joint), axes, origin, f"link '{link}'")


@dataclass(frozen=True)
class KnownPart:
    """
    A body in the frame of the load.

    :param standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M at the origin of the frame.
    :param deviations: (10,) of them.
    :param name: what to call it.
    """

    standard: Array = field(default_factory=lambda: np.zeros(10))
    deviations: Array = field(default_factory=lambda: np.zeros(10))
    name: str = ''


def carrying(robot: Robot, chi: Array, part: KnownPart, place: Attachment) -> Array:
    """(b,) base parameters of a robot that carries a part, from those without it."""
    return np.asarray(chi + place.columns(robot) @ part.standard)


def known_part(text: str, option: str = 'known') -> KnownPart:
    """Return the part of an option: numbers (kg, m, kg m2), or a file that `payload` wrote."""
    if text.endswith('.json'):
        return _from_file(Path(text))
    try:
        values = [float(word) for word in text.split(',')]
    except ValueError:
        values = []
    if len(values) not in (4, 10) or not np.all(np.abs(values) <= LARGEST):
        raise OptionError(
            f"{option}: '{text}' is neither {LOAD_FORM} (each at most {LARGEST:g}) nor a .json "
            'file of payload',
            key=option,
            value=text,
        )
    x, y, z = values[1:4]
    xx, xy, xz, yy, yz, zz = values[4:] or (0.0,) * 6
    body = Payload(values[0], (x, y, z), (xx, xy, xz, yy, yz, zz))
    return KnownPart(body.parameters(), name=f'{values[0]:g} kg')


def _from_file(path: Path) -> KnownPart:
    content = read_json(path)
    try:
        rows = content['standard']
        pairs = [(_number(rows[name]['value']), _number(rows[name]['std'])) for name in STANDARD]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f'{path}: is not a file that payload wrote ({error!r})') from error
    values, deviations = np.array(pairs).T
    if np.any(deviations < 0.0) or values[9] < 0.0:
        raise DataError(f'{path}: a mass or a standard deviation is negative')
    return KnownPart(values, deviations, one_line(path.name))


def _number(value: Any) -> float:
    """Return a number of a file, 0 for what it does not determine."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > LARGEST:
        raise ValueError(f'{shorten(repr(value), 80)} is not a number of at most {LARGEST:g}')
    return float(value)
