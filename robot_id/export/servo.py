"""
What was identified without torques, for simulators: MJCF, URDF and a table of joints.

Dry friction that depends on the load has no place in these files: they hold its budget at the
typical load of the joint, at speed; `joints` holds every number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robot_id.exceptions import DataError
from robot_id.export import csv_file, urdf_file, yaml_file
from robot_id.export.held_drives import Bodies, HeldDrives
from robot_id.export.mjcf_file import mjcf
from robot_id.export.parts import Exported, Request, dump, head
from robot_id.json_numbers import finite_or_none
from robot_id.robot.friction.budget import TERMS
from robot_id.texts import xml_attribute


def servo_writer(kind: str) -> Callable[[Request], Exported]:
    """Return the writer of a format for a result without torques; refuse the others by name."""
    if kind not in WRITERS:
        raise DataError(
            f"format '{kind}' needs base parameters, and this result is of servo_oe: use "
            f'{", ".join(WRITERS)}',
            key='format',
            value=kind,
        )
    return WRITERS[kind]


def write_joints(request: Request) -> Exported:
    """Return the numbers of every joint, named as simulators name them."""
    result, extras = request.result, request.result.extras
    std = dict(zip(result.names, result.std))
    content: dict[str, Any] = {
        'robot': request.name,
        'method': result.method,
        'drive': extras['drive'],
        'friction_terms': extras['friction'],
        'scale': extras['scale'],
        'joints': {},
    }
    for j, (joint, numbers) in enumerate(joint_numbers(request).items()):
        stiffness, damping, limit = actuator(request, j)
        content['joints'][joint] = {
            'armature': numbers['armature'],
            'friction': dry_friction(request, j),
            'viscous_friction': numbers['viscous'],
            'stiffness': stiffness,
            'damping': damping,
            'effort_limit': finite_or_none(limit),
            'delay_s': numbers['delay'],
            'encoder_bias': numbers['bias'],
            'identified': {
                name: {
                    'value': value,
                    'std': finite_or_none(std.get(f'{name}.{joint}', std.get(name, float('nan')))),
                }
                for name, value in numbers.items()
                if (f'{name}.{joint}' in std or name in std)
            },
            'fixed': {
                name: finite_or_none(value)
                for name, value in numbers.items()
                if f'{name}.{joint}' not in std and name not in std and value != 0.0
            },
        }
    return Exported(head(result, 'SI units on the joint side') + dump(content))


def write_mjcf(request: Request) -> Exported:
    """Return a MuJoCo model with position actuators."""
    bodies, held = _parts(request)
    text = mjcf(bodies, held, 'implicitfast')
    first, last = text.index('  <actuator>'), text.index('</mujoco>')
    text = text[:first] + '\n'.join(_actuators(request)) + '\n' + text[last:]
    return Exported(text, {'.joints.yaml': write_joints(request).text}, notes=_notes(request))


def write_urdf(request: Request) -> Exported:
    """Return the URDF with the identified damping and friction."""
    bodies, held = _parts(request)
    if bodies.robot.urdf is None:
        raise DataError(f'{request.name}: has no URDF to change')
    text, notes = urdf_file.changed(bodies.robot.urdf.read_bytes(), bodies, held)
    beside = {'.joints.yaml': write_joints(request).text}
    own = 'a URDF has no place for armature and gains: they are in the file beside it'
    return Exported(text.decode(), beside, notes=(*notes, own, *_notes(request)))


def joint_numbers(request: Request) -> dict[str, dict[str, float]]:
    """Return the numbers of every joint; a result file has null where there is no limit."""
    return {
        joint: {name: np.inf if value is None else value for name, value in numbers.items()}
        for joint, numbers in request.result.extras['joints'].items()
    }


def actuator(request: Request, j: int) -> tuple[float, float, float]:
    """Return stiffness, damping and torque limit of a joint's position loop, at its usual gain."""
    extras = request.result.extras
    numbers = list(joint_numbers(request).values())[j]
    gain, supply = extras['inputs']['gain'][j], extras['inputs']['supply'][j]
    if extras['drive'] == 'voltage':
        a = numbers['kt'] / numbers['R'] * supply
        damping = numbers['kt'] ** 2 / numbers['R'] + a * numbers['kd']
        return a * gain * numbers['kp'], damping, a * numbers['duty_limit']
    if extras['drive'] == 'current':
        kt = numbers['kt']
        return kt * gain * numbers['kp'], kt * numbers['kd'], kt * numbers['current_limit']
    return gain * numbers['kp'], gain * numbers['kd'], numbers['limit']


def dry_friction(request: Request, j: int) -> float:
    """Return the budget of dry friction at the typical load of a joint, at speed."""
    numbers = list(joint_numbers(request).values())[j]
    load = request.result.extras['inputs']['load'][j]
    return float(sum(numbers[name] * term.value(load, load, 0.0) for name, term in TERMS.items()))


def _parts(request: Request) -> tuple[Bodies, HeldDrives]:
    robot = request.robot
    assert robot is not None
    x = robot.standard_prior()
    for name, value in zip(request.result.names, request.result.values):
        if name in robot.standard_names:
            x[robot.standard_names.index(name)] = value
    joints = list(joint_numbers(request).values())
    held = HeldDrives(
        np.array([numbers['armature'] for numbers in joints]),
        np.array([numbers['viscous'] for numbers in joints]),
        np.array([dry_friction(request, j) for j in range(robot.n)]),
        np.zeros(robot.n),
        (),
        (),
        (),
    )
    return Bodies(robot, x, np.ascontiguousarray(x[robot.inertial_index]), ()), held


def _actuators(request: Request) -> list[str]:
    lines = []
    for j, name in enumerate(joint_numbers(request)):
        stiffness, damping, limit = actuator(request, j)
        span = f' forcerange="{-limit!r} {limit!r}"' if np.isfinite(limit) else ''
        lines.append(
            f'    <general name={xml_attribute(name)} joint={xml_attribute(name)} '
            f'gainprm="{stiffness!r}" biastype="affine" biasprm="0 {-stiffness!r} {-damping!r}"'
            f'{span}/>'
        )
    return ['  <actuator>', *lines, '  </actuator>']


def _notes(request: Request) -> tuple[str, ...]:
    joints = list(joint_numbers(request).values())
    notes = []
    delay = max(numbers['delay'] for numbers in joints)
    if delay > 0.0:
        notes.append(f'give commands {1e3 * delay:.3g} ms late: the file holds no delay')
    if any(numbers['bias'] for numbers in joints):
        notes.append('encoders show position + bias: the biases are in the file of joints')
    if any(numbers[name] for numbers in joints for name in TERMS if name != 'coulomb'):
        notes.append(
            'friction depends on load or speed: the file holds that of the typical load, all '
            'terms are in the file of joints'
        )
    return tuple(notes)


WRITERS: dict[str, Callable[[Request], Exported]] = {
    'joints': write_joints,
    'mjcf': write_mjcf,
    'urdf': write_urdf,
    'yaml': yaml_file.write,
    'csv': csv_file.write,
}
