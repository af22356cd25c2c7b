"""The YAML beside a model file: every parameter, also those that the file has no place for."""

from __future__ import annotations

import numpy as np

from robot_id.report.export.parts import Request, dump
from robot_id.report.export.possible import Bodies, central, friction_of, lost_names


def sidecar(request: Request, bodies: Bodies) -> str:
    """Return masses, centres, inertias, rotors and friction of a possible robot."""
    robot = bodies.robot
    links = {}
    for name, row in zip(robot.kinematics.body_names, bodies.rows):
        m, c, tensor = central(row)
        links[name] = {
            'mass': m,
            'centre': c.tolist(),
            'inertia_about_centre': tensor[np.triu_indices(3)].tolist(),
        }
    joints = {}
    for j, joint in enumerate(robot.joints):
        damping, friction = friction_of(bodies, j + 1)
        joints[joint.name] = {
            'rotor_inertia': bodies.value(f'Ia{j + 1}'),
            'damping': damping,
            'friction': friction,
            'offset': bodies.value(f'Off{j + 1}'),
        }
    content = {
        'robot': request.name,
        'method': request.result.method,
        'source': str(request.source),
        'gravity': robot.gravity.tolist(),
        'links': links,
        'joints': joints,
        'standard_parameters': dict(zip(robot.standard_names, bodies.x.tolist())),
    }
    head = (
        f'# a possible {robot.name}: SI units on the joint side; links by the joint that carries\n'
        '# them, in its frame; inertia: XX XY XZ YY YZ ZZ about the centre of mass\n'
    )
    return head + dump(content)


def lost(bodies: Bodies, what: str, rotors: bool) -> tuple[str, ...]:
    """
    Return what a file cannot hold, in words.

    :param what: name of the format.
    :param rotors: it has a place for rotor inertias.
    """
    names = lost_names(bodies, rotors)
    notes = []
    if names:
        notes.append(
            f'{what} has no place for {", ".join(names)}: they are in the .params.yaml beside it'
        )
    return tuple(notes)


def lost_in_urdf(bodies: Bodies) -> tuple[str, ...]:
    """Return what a URDF cannot hold, in words."""
    notes = lost(bodies, 'URDF', rotors=False)
    if any(name.startswith('Ia') for name in lost_names(bodies, rotors=False)):
        notes += ('rotor inertias: readers ignore an armature in a URDF, set it after loading',)
    if not np.allclose(bodies.robot.gravity, [0.0, 0.0, -9.81]):
        g = ' '.join(f'{v:g}' for v in bodies.robot.gravity)
        notes += (f'URDF has no place for gravity: this robot feels {g} m/s^2 in its base',)
    return notes
