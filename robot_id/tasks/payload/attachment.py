"""Where a load hangs: a link, a pose in it, and the columns of the load's ten parameters."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, OptionError, did_you_mean
from robot_id.regression.consistency.pseudo_inertia import inertial_row, pseudo_inertia
from robot_id.robot import Payload, Robot
from robot_id.robot.files.urdf import load_model
from robot_id.robot.payload import payload_columns
from robot_id.texts import POSE_FORM

Array = NDArray[np.float64]


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
