"""
ros2_control: the URDF with a `<ros2_control>` tag, and the parameters of its controllers.

The gains of the trajectory controller follow from the identified model: J_j the largest M_jj(q)
within the limits, p = J w^2, d = 2 zeta w J, and the viscous friction fed forward.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.control.gains import loop_inertia
from robot_id.export import urdf_file
from robot_id.export.held_drives import Bodies, bodies_of, held_drives
from robot_id.export.parts import Exported, Request, dump
from robot_id.export.xml_text import Edits, parse
from robot_id.robot import Robot
from robot_id.texts import comment, xml_attribute

Array = NDArray[np.float64]
TAG = 'ros2_control'
# Without a loop in the robot file: slow and well damped.
_BANDWIDTH, _DAMPING, _RATE = 2.0 * np.pi * 2.0, 1.0, 500.0
_STATES = ('position', 'velocity', 'effort')


def write(request: Request) -> Exported:
    """Return the URDF with its tag, the controllers and all that a URDF cannot hold."""
    made = urdf_file.write(request)
    content = made.text.encode()
    root, notes = parse(content), made.notes
    if root.first(TAG) is None:
        edits = Edits(content)
        edits.append(root, tag_lines(request.loaded))
        content = edits.text()
        notes += (
            'the hardware is mock_components/GenericSystem, which moves nothing: put the plugin '
            'of your driver in its place',
        )
    else:
        notes += (f'the <{TAG}> tag of your URDF stays as it is',)
    others = made.others | {'.controllers.yaml': controllers(bodies_of(request))}
    return Exported(content.decode(), others, notes=notes, check=made.check)


def tag_lines(robot: Robot) -> list[str]:
    """Return the lines of the tag: effort commands within the limits, and all states."""
    lines = [
        f'<{TAG} name={xml_attribute(robot.name)} type="system">',
        '  <hardware>',
        '    <plugin>mock_components/GenericSystem</plugin>',
        '  </hardware>',
    ]
    for j, name in enumerate(robot.joint_names):
        limit = float(robot.limits.torque[j])
        command = '    <command_interface name="effort"/>'
        if np.isfinite(limit) and limit > 0.0:
            command = (
                '    <command_interface name="effort">'
                f'<param name="min">{-limit!r}</param><param name="max">{limit!r}</param>'
                '</command_interface>'
            )
        states = (f'    <state_interface name="{state}"/>' for state in _STATES)
        lines += [f'  <joint name={xml_attribute(name)}>', command, *states, '  </joint>']
    return [*lines, f'</{TAG}>']


def loop_settings(robot: Robot) -> tuple[Array, Array, float, str]:
    """Return (n,) bandwidths [rad/s], (n,) damping, rate [Hz], and their origin in words."""
    loops = robot.description.loops
    loop = loops.get('default') or next(iter(loops.values()), None)
    if loop is None:
        n = robot.n
        return np.full(n, _BANDWIDTH), np.full(n, _DAMPING), _RATE, '2 Hz, zeta 1'
    wn = np.broadcast_to(np.array(loop.bandwidth, float), robot.n)
    zeta = np.broadcast_to(np.array(loop.damping, float), robot.n)
    return wn, zeta, loop.rate_hz, 'as in the loop of the robot file'


def controllers(bodies: Bodies) -> str:
    """Return the parameters of the controller manager and of two controllers of efforts."""
    robot, held = bodies.robot, held_drives(bodies)
    wn, zeta, rate, source = loop_settings(robot)
    J = loop_inertia(robot, robot.base.from_standard(bodies.x))
    names = robot.joint_names
    gains = {
        name: {
            'p': float(J[j] * wn[j] ** 2),
            'i': 0.0,
            'd': float(2.0 * zeta[j] * wn[j] * J[j]),
            'ff_velocity_scale': float(held.damping[j]),
        }
        for j, name in enumerate(names)
    }
    trajectory = 'joint_trajectory_controller'
    content = {
        'controller_manager': {
            'ros__parameters': {
                'update_rate': round(rate),
                'joint_state_broadcaster': {
                    'type': 'joint_state_broadcaster/JointStateBroadcaster'
                },
                'effort_controller': {
                    'type': 'forward_command_controller/ForwardCommandController'
                },
                trajectory: {'type': f'{trajectory}/JointTrajectoryController'},
            }
        },
        'effort_controller': {'ros__parameters': {'joints': [*names], 'interface_name': 'effort'}},
        trajectory: {
            'ros__parameters': {
                # No list twice: YAML would refer to it, which ROS does not read.
                'joints': [*names],
                'command_interfaces': ['effort'],
                'state_interfaces': ['position', 'velocity'],
                'gains': gains,
            }
        },
    }
    head = (
        f'# Controllers of {comment(robot.name)}.\n'
        '# effort_controller takes the commands of ctc_controller.\n'
        f'# Gains of the trajectory controller: p = J w^2, d = 2 zeta w J, w {source};\n'
        '# it knows no gravity and no dry friction: start with it only where these are small.\n'
    )
    return head + dump(content)
