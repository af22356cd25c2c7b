"""The YAML beside a model file: every parameter, also those that the model file cannot hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_id.export.held_drives import Bodies, HeldDrives, central
from robot_id.export.parts import Request, dump
from robot_id.robot.friction import TERMS
from robot_id.texts import comment


def sidecar(request: Request, bodies: Bodies) -> str:
    """Return masses, centres, inertias, rotors and friction of a physically consistent robot."""
    robot = bodies.robot
    links = {}
    for name, row in zip(robot.kinematics.body_names, bodies.rows):
        m, c, tensor = central(row)
        links[name] = {
            'mass': m,
            'centre': c.tolist(),
            'inertia_about_centre': tensor[np.triu_indices(3)].tolist(),
        }
    content: dict[str, Any] = {
        'robot': request.name,
        'method': request.result.method,
        'source': str(request.source),
        'gravity': robot.gravity.tolist(),
        'links': links,
        'joints': {joint.name: _drive(bodies, j) for j, joint in enumerate(robot.joints)},
    }
    if robot.coupling is not None:
        content['coupling'] = robot.coupling.tolist()
    content['standard_parameters'] = dict(zip(robot.standard_names, bodies.x.tolist()))
    head = (
        f'# a physically consistent {comment(robot.name)}\n'
        '# SI units on the joint side; links by the joint that carries\n'
        '# them, in its frame; inertia: XX XY XZ YY YZ ZZ about the centre of mass; the torque\n'
        '# of a joint is that of the bodies + rotor_inertia ddq + its friction, as written\n'
    )
    return head + dump(content)


def _drive(bodies: Bodies, j: int) -> dict[str, Any]:
    """Return rotor inertia and every friction term of a joint, with its equation and numbers."""
    joint, friction = bodies.robot.joints[j], {}
    for name in joint.friction:
        term = TERMS[name]
        numbers: dict[str, Any] = {'equation': term.equation}
        for column in term.columns:
            for stem in (column.name, column.motor):
                key = '' if stem is None else stem.format(j + 1)
                if key in bodies.robot.standard_names:
                    numbers[key] = bodies.value(key)
        if term.constant is not None:
            numbers[term.constant.name.format(j + 1)] = joint.constant_of(name)
        friction[name] = numbers
    return {'rotor_inertia': bodies.value(f'Ia{j + 1}'), 'friction': friction}


def lost(held: HeldDrives, what: str) -> tuple[str, ...]:
    """
    Return what a file cannot hold, in words.

    :param what: name of the format.
    """
    names = ', '.join(held.lost)
    beside = f'{what} has no place for {names}: they are in the .params.yaml beside it'
    return (*([beside] if names else []), *held.notes)


def lost_without_rotors(bodies: Bodies, held: HeldDrives, what: str) -> tuple[str, ...]:
    """Return what a URDF or an SDF cannot hold, in words."""
    notes = lost(held, what)
    if any(name.startswith('Ia') for name in held.lost):
        notes += (
            f'rotor inertias: readers ignore an armature in {what}, set it after loading '
            '(pinocchio: model.armature, MuJoCo: model.dof_armature)',
        )
    if not np.allclose(bodies.robot.gravity, [0.0, 0.0, -9.81]):
        g = ' '.join(f'{v:g}' for v in bodies.robot.gravity)
        notes += (f'{what} has no place for gravity: this robot feels {g} m/s^2 in its base',)
    return notes
