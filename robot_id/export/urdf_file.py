"""
URDF: the user's own file with new inertials and joint dynamics, everything else as it was.

A body is the link of a moving joint with all links fixed to it. The links fixed to it keep their
inertials if the rest for the first link is a physically consistent body (separate); otherwise the
first link gets everything and theirs are removed (merged).
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.export.held_drives import (
    Bodies,
    HeldDrives,
    bodies_of,
    central,
    held_drives,
    text_of,
)
from robot_id.export.parts import Exported, Request
from robot_id.export.readback import check_urdf
from robot_id.export.sidecar import lost_without_rotors, sidecar
from robot_id.export.xml_text import Edits, Element, parse
from robot_id.regression.consistency.pseudo_inertia import smallest_eigenvalues
from robot_id.robot import Robot
from robot_id.robot.parameters.inertia import inertia_row, pinocchio_inertia
from robot_id.texts import xml_attribute

Array = NDArray[np.float64]


def skeleton(robot: Robot) -> str:
    """Return a URDF with the joints of a robot; its links have neither inertia nor shape."""
    kinematics = robot.kinematics
    links = [f'link_{name}' for name in kinematics.body_names]
    lines = [
        '<?xml version="1.0"?>',
        f'<robot name={xml_attribute(robot.name)}>',
        '  <link name="base_link"/>',
    ]
    for i, name in enumerate(kinematics.body_names):
        parent = 'base_link' if kinematics.parent[i] < 0 else links[kinematics.parent[i]]
        j = int(kinematics.dof[i])
        lower, upper = robot.limits.lower[j], robot.limits.upper[j]
        bounded = bool(np.isfinite(lower) and np.isfinite(upper))
        kind = 'prismatic' if kinematics.prismatic[i] else 'revolute' if bounded else 'continuous'
        if not bounded:
            lower, upper = -1e3, 1e3
        speed, effort = (
            float(v) if np.isfinite(v) else 1e3
            for v in (robot.limits.velocity[j], robot.limits.torque[j])
        )
        rpy = text_of(pin.rpy.matrixToRpy(kinematics.rotation[i]))
        lines += [
            f'  <joint name={xml_attribute(name)} type="{kind}">',
            f'    <parent link={xml_attribute(parent)}/>',
            f'    <child link={xml_attribute(links[i])}/>',
            f'    <origin xyz="{text_of(kinematics.translation[i])}" rpy="{rpy}"/>',
            f'    <axis xyz="{text_of(kinematics.axis[i])}"/>',
            f'    <limit lower="{float(lower)!r}" upper="{float(upper)!r}" velocity="{speed!r}" '
            f'effort="{effort!r}"/>',
            '  </joint>',
            f'  <link name={xml_attribute(links[i])}/>',
        ]
    return '\n'.join([*lines, '</robot>', ''])


def write(request: Request) -> Exported:
    """Return the URDF with the identified bodies, and all that it cannot hold beside it."""
    bodies = bodies_of(request)
    robot = bodies.robot
    content = robot.urdf.read_bytes() if robot.urdf is not None else skeleton(robot).encode()
    held = held_drives(bodies)
    text, merged = changed(content, bodies, held)
    notes = (*bodies.notes, *merged, *lost_without_rotors(bodies, held, 'URDF'))
    return Exported(
        text.decode(),
        {'.params.yaml': sidecar(request, bodies)},
        notes=notes,
        check=lambda written: check_urdf(written, bodies, held),
    )


def changed(content: bytes, bodies: Bodies, held: HeldDrives) -> tuple[bytes, tuple[str, ...]]:
    """Return a URDF's text with the bodies' inertials and dynamics, and notes on merged links."""
    root, edits = parse(content), Edits(content)
    links = {link.attributes.get('name', ''): link for link in root.all('link')}
    joints = {joint.attributes.get('name', ''): joint for joint in root.all('joint')}
    notes: list[str] = []
    kinematics = bodies.robot.kinematics
    for i, name in enumerate(kinematics.body_names):
        first = _end(joints[name], 'child')
        others = _fixed_to(first, joints, dict(kinematics.locked))
        known = [(link, _inertia(links[link], M)) for link, M in others]
        known = [(link, row) for link, row in known if np.any(row)]
        left = bodies.rows[i] - np.sum([row for _, row in known], axis=0) if known else None
        if left is not None and left[9] > 0.0 and smallest_eigenvalues(left) > 1e-9 * left[9]:
            _set_inertial(edits, links[first], left)
            continue
        _set_inertial(edits, links[first], bodies.rows[i])
        for link, _ in known:
            for inertial in links[link].all('inertial'):
                edits.remove(inertial)
        if known:
            names = ', '.join(link for link, _ in known)
            notes.append(f'link {first} now holds the inertia of the links fixed to it: {names}')
    for j, joint in enumerate(bodies.robot.joints):
        _set_dynamics(edits, joints[joint.name], float(held.damping[j]), float(held.dry[j]))
    return edits.text(), tuple(notes)


def _end(joint: Element, which: str) -> str:
    found = joint.first(which)
    return '' if found is None else found.attributes.get('link', '')


def _fixed_to(
    first: str, joints: dict[str, Element], locked: dict[str, float]
) -> list[tuple[str, pin.SE3]]:
    """Return the links that move with a link, with their placement in its frame."""
    found, waiting = [], [(first, pin.SE3.Identity())]
    while waiting:
        parent, M = waiting.pop()
        for name, joint in joints.items():
            kind = joint.attributes.get('type', '')
            if _end(joint, 'parent') != parent or (kind != 'fixed' and name not in locked):
                continue
            placement = M * _origin(joint) * _moved(joint, kind, locked.get(name, 0.0))
            found.append((_end(joint, 'child'), placement))
            waiting.append(found[-1])
    return found


def _moved(joint: Element, kind: str, q: float) -> pin.SE3:
    axis = joint.first('axis')
    a = _numbers(axis, 'xyz') if axis is not None else np.array([1.0, 0.0, 0.0])
    if kind == 'prismatic':
        return pin.SE3(np.eye(3), q * a / np.linalg.norm(a))
    if kind in ('revolute', 'continuous'):
        return pin.SE3(pin.exp3(q * a / np.linalg.norm(a)), np.zeros(3))
    return pin.SE3.Identity()


def _origin(element: Element) -> pin.SE3:
    origin = element.first('origin')
    return pin.SE3(pin.rpy.rpyToMatrix(_numbers(origin, 'rpy')), _numbers(origin, 'xyz'))


def _numbers(element: Element | None, key: str) -> Array:
    text = '0 0 0' if element is None else element.attributes.get(key, '0 0 0')
    return np.array([float(word) for word in text.split()])


def _inertia(link: Element, M: pin.SE3) -> Array:
    """(10,) inertial parameters of a link in a frame where it stands at M."""
    inertial = link.first('inertial')
    if inertial is None:
        return np.zeros(10)
    mass, tensor = inertial.first('mass'), inertial.first('inertia')
    m = float(mass.attributes.get('value', '0')) if mass is not None else 0.0
    if m <= 0.0:
        return np.zeros(10)
    given = {} if tensor is None else tensor.attributes
    six = [float(given.get(k, '0')) for k in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')]
    own = pinocchio_inertia(np.array([*six, 0.0, 0.0, 0.0, m]))
    return inertia_row(own.se3Action(M * _origin(inertial)))


def _set_inertial(edits: Edits, link: Element, row: Array) -> None:
    m, c, I = central(row)
    keys = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    tensor = {k: repr(float(v)) for k, v in zip(keys, I[np.triu_indices(3)])}
    wanted = {
        'origin': {'xyz': text_of(c), 'rpy': '0 0 0'},
        'mass': {'value': repr(m)},
        'inertia': tensor,
    }
    lines = {
        tag: f'<{tag} ' + ' '.join(f'{k}="{v}"' for k, v in values.items()) + '/>'
        for tag, values in wanted.items()
    }
    inertial = link.first('inertial')
    if inertial is None:
        edits.append(link, ['<inertial>', *(f'  {s}' for s in lines.values()), '</inertial>'])
        return
    missing = []
    for tag, values in wanted.items():
        element = inertial.first(tag)
        if element is None:
            missing.append(lines[tag])
        else:
            edits.set_attributes(element, values)
    if missing:
        edits.append(inertial, missing)


def _set_dynamics(edits: Edits, joint: Element, damping: float, friction: float) -> None:
    values = {'damping': repr(damping), 'friction': repr(friction)}
    element = joint.first('dynamics')
    if element is not None:
        edits.set_attributes(element, values)
    else:
        edits.append(joint, [f'<dynamics damping="{damping!r}" friction="{friction!r}"/>'])
