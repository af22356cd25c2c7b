"""The files of the package: templates with what belongs to one robot filled in."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.export.c_code.model_source import ModelSource
from robot_id.export.ros2_control import loop_settings
from robot_id.robot import Robot
from robot_id.texts import c_comment, markdown, one_line, xml_attribute, xml_text

Array = NDArray[np.float64]
TEMPLATES = Path(__file__).with_name('templates')
# States of the test with reference values.
STATES = 50


class Package:
    """
    A package for one robot; `name` is that of the package, of its library and of its namespace.

    :param model: the C99 model.
    """

    def __init__(self, model: ModelSource) -> None:
        self.model, self.robot, self.chi = model, model.robot, model.chi
        self.name = f'{model.prefix}_model_controller'

    def files(self, origin: str) -> dict[str, str]:
        """
        Return all files by their path in the package.

        :param origin: where the parameters are from.
        """
        filled = {}
        for path in sorted(TEMPLATES.rglob('*')):
            if path.is_file():
                name = path.relative_to(TEMPLATES).as_posix()
                filled[name.replace('include/', f'include/{self.name}/')] = self._fill(
                    path.read_text(encoding='utf-8'), origin
                )
        prefix = self.model.prefix
        return {
            **filled,
            f'model/{prefix}_model.h': self.model.header(origin),
            f'model/{prefix}_model.c': self.model.source(),
            'config/mock.urdf': mock_urdf(self.robot),
            'test/reference_states.hpp': self.reference_states(),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user has to do, one line each."""
        missing = [
            name
            for name, limit in zip(self.robot.joint_names, self.torque_limits)
            if not limit > 0.0
        ]
        limits = f'torque_limits of {", ".join(missing)} must be given in config/controllers.yaml'
        return (
            'config/mock.urdf moves nothing: launch with urdf:=FILE for your hardware',
            *([limits] if missing else []),
        )

    @cached_property
    def torque_limits(self) -> Array:
        """(n,) limits of the robot file, 0 where it has none."""
        limits = self.robot.limits.torque
        return np.where(np.isfinite(limits), limits, 0.0)

    @cached_property
    def without_friction(self) -> Array:
        """(b,) parameters of bodies, rotors and offsets."""
        robot = self.robot
        kept = [
            column not in robot.term_index
            or robot.standard_names[column].startswith(('Ia', 'Off'))
            for column in robot.base.columns
        ]
        return np.where(kept, self.chi, 0.0)

    @cached_property
    def groups(self) -> list[int]:
        """Return for each joint the first of those that share motors with it."""
        n, coupling = self.robot.n, self.robot.coupling
        joined = np.eye(n, dtype=bool) if coupling is None else coupling != 0.0
        joined = joined.T @ joined
        for _ in range(n):
            joined = joined @ joined
        return [int(np.argmax(row)) for row in joined]

    def _fill(self, text: str, origin: str) -> str:
        robot, model = self.robot, self.model
        wn, zeta, rate, _ = loop_settings(robot)
        values = {
            'PACKAGE': self.name,
            'GUARD': self.name.upper(),
            'PREFIX': model.prefix,
            'N': str(robot.n),
            'JOINTS': json.dumps([one_line(name) for name in robot.joint_names]),
            'JOINT_LIST': _in_quotes(', '.join(robot.joint_names)),
            'START_CPP': '{' + ', '.join(repr(x) for x in _start(robot)) + '}',
            'KP': _numbers(wn**2),
            'KD': _numbers(2.0 * zeta * wn),
            'LIMITS': _numbers(self.torque_limits),
            'RATE': str(round(rate)),
            'PREFIX_UPPER': model.prefix.upper(),
            'WITHOUT_FRICTION': ',\n  '.join(repr(float(x)) for x in self.without_friction),
            'GROUPS': ', '.join(map(str, self.groups)),
            'ROBOT_C': c_comment(robot.name),
            'ROBOT_CPP': json.dumps(one_line(robot.name)),
            'ROBOT_XML': xml_text(robot.name),
            'ROBOT_MD': markdown(robot.name),
            'JOINTS_MD': ', '.join(markdown(name) for name in robot.joint_names),
            'ORIGIN_MD': markdown(origin),
            'SLOPE': f'{model.slope:g}',
        }
        for key, value in values.items():
            text = text.replace(f'@{key}@', value)
        return text

    def reference_states(self) -> str:
        """Return reference_states.hpp: states and the torques that robot_id computes for them."""
        robot, slope = self.robot, self.model.slope
        rng = np.random.default_rng(1)
        q = sample_configurations(robot, STATES)
        top = np.where(np.isfinite(robot.limits.velocity), robot.limits.velocity, 2.0)
        dq = rng.uniform(-1.0, 1.0, q.shape) * top
        ddq = rng.normal(0.0, 5.0, q.shape)
        tables = {
            'q': q,
            'dq': dq,
            'ddq': ddq,
            'whole': dynamics.inverse_dynamics(robot, self.chi, q, dq, ddq, slope),
            'bodies': dynamics.inverse_dynamics(robot, self.without_friction, q, dq, ddq, slope),
        }
        text = ''.join(
            f'inline constexpr double {name}[states][{robot.n}] = {{\n'
            + ''.join('  {' + ', '.join(repr(float(x)) for x in row) + '},\n' for row in table)
            + '};\n'
            for name, table in tables.items()
        )
        return (
            '// States, and the torques of the model with and without friction.\n'
            '#ifndef REFERENCE_STATES_HPP_\n#define REFERENCE_STATES_HPP_\n\n'
            f'inline constexpr int states = {STATES};\n{text}\n'
            '#endif  // REFERENCE_STATES_HPP_\n'
        )


def mock_urdf(robot: Robot) -> str:
    """Return joints without bodies on mock hardware: for a first start and for the test."""
    lines = ['<?xml version="1.0"?>', f'<robot name={xml_attribute(robot.name)}>']
    lines.append('  <link name="mock_0"/>')
    tag = []
    for j, joint in enumerate(robot.joint_names):
        lower, upper = float(robot.limits.lower[j]), float(robot.limits.upper[j])
        bounded = bool(np.isfinite([lower, upper]).all())
        slides = bool(robot.kinematics.prismatic[robot.kinematics.own_body(j)])
        kind = 'prismatic' if slides else 'revolute' if bounded else 'continuous'
        if not bounded:
            lower, upper = -1e3, 1e3
        limits = f'lower="{lower!r}" upper="{upper!r}"' if kind != 'continuous' else ''
        torque, speed = float(robot.limits.torque[j]), float(robot.limits.velocity[j])
        effort, speed = (x if np.isfinite(x) else 1e3 for x in (torque, speed))
        lines += [
            f'  <link name="mock_{j + 1}"/>',
            f'  <joint name={xml_attribute(joint)} type="{kind}">',
            f'    <parent link="mock_{j}"/><child link="mock_{j + 1}"/><axis xyz="0 0 1"/>',
            f'    <limit {limits} effort="{effort!r}" velocity="{speed!r}"/>',
            '  </joint>',
        ]
        start = _start(robot)[j]
        tag += [
            f'    <joint name={xml_attribute(joint)}>',
            '      <command_interface name="position"/>',
            '      <command_interface name="effort"/>',
            f'      <state_interface name="position"><param name="initial_value">{start!r}</param>'
            '</state_interface>',
            '      <state_interface name="velocity"><param name="initial_value">0.0</param>'
            '</state_interface>',
            '      <state_interface name="effort"><param name="initial_value">0.0</param>'
            '</state_interface>',
            '    </joint>',
        ]
    lines += [
        f'  <ros2_control name={xml_attribute(robot.name)} type="system">',
        '    <hardware><plugin>mock_components/GenericSystem</plugin></hardware>',
        *tag,
        '  </ros2_control>',
        '</robot>',
    ]
    return '\n'.join(lines) + '\n'


def _start(robot: Robot) -> list[float]:
    """Return where the mock joints stand: at 0 or at the limit next to it."""
    return [float(x) for x in np.clip(0.0, robot.limits.lower, robot.limits.upper)]


def _numbers(values: Array) -> str:
    return '[' + ', '.join(repr(float(value)) for value in values) + ']'


def _in_quotes(text: str) -> str:
    """Return a text for the inside of a double-quoted string of YAML."""
    return json.dumps(one_line(text))[1:-1]
