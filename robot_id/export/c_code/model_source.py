"""Header and source of the exported model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.generated.c_writer import Body, indented, literal
from robot_id.dynamics.generated.functions import FUNCTIONS, trace
from robot_id.dynamics.load import takes_load
from robot_id.robot import Robot
from robot_id.texts import c_comment

Array = NDArray[np.float64]


class Exported(NamedTuple):
    """
    A function of the library.

    :param about: what it computes.
    :param x: C name of its third input, the acceleration or the torque.
    :param outputs: C names of what it fills.
    """

    about: str
    x: str
    outputs: dict[str, str]


LIBRARY: dict[str, Exported] = {
    'inverse_dynamics': Exported('Joint torques of a motion.', 'ddq', {'tau': 'tau'}),
    'gravity': Exported(
        'Torques that hold the robot at rest, no friction, no offset.', 'ddq', {'tau': 'tau'}
    ),
    'friction': Exported('Friction and offset torques.', 'ddq', {'tau': 'tau'}),
    'inertia_matrix': Exported('Inertia matrix with the rotors, row by row.', 'ddq', {'M': 'M'}),
    'bias': Exported(
        'Torques at zero acceleration: Coriolis, centrifugal, gravity, friction.',
        'ddq', {'tau': 'tau'},
    ),
    'direct_dynamics': Exported(
        'Accelerations under joint torques. Returns 0, or 1 where the inertia matrix is not\n'
        ' * positive definite (ddq is then left as it was).',
        'tau', {'ddq': 'ddq'},
    ),
    'regressor': Exported(
        'Regressor row by row, tau = W chi: the derivative of the torques by the parameters.',
        'ddq', {'W': 'W'},
    ),
    'derivatives': Exported(
        'Derivatives of the torques by q, dq and ddq, row by row.',
        'ddq', {'by_q': 'by_q', 'by_dq': 'by_dq', 'by_ddq': 'by_ddq'},
    ),
}  # fmt: skip


class ModelSource:
    """
    The library of one robot.

    :param chi: (b,) identified base parameters.
    :param prefix: of all names in C.
    """

    def __init__(self, robot: Robot, chi: Array, prefix: str) -> None:
        self.robot, self.chi, self.prefix = robot, chi, prefix
        self.slope = float(robot.description.coulomb_slope)
        self.functions = dict(LIBRARY)
        self.notes: tuple[str, ...] = ()
        if takes_load(robot):
            # Its columns depend on the parameters, so there is no regressor to export.
            del self.functions['regressor']
            self.notes = ('friction grows with the load: no regressor function is written',)

    def header(self, origin: str) -> str:
        """Return NAME_model.h."""
        robot, guard = self.robot, f'{self.prefix.upper()}_MODEL_H'
        joints = ''.join(
            f' *   {j}: {c_comment(name)}, {_units(robot, j)}\n'
            for j, name in enumerate(robot.joint_names)
        )
        parameters = ''.join(
            f' *   chi[{k}] = {c_comment(name)}\n' for k, name in enumerate(robot.base.names)
        )
        declarations = ''.join(
            f'/* {exported.about} */\n{self.declaration(name, False)};\n'
            + (
                f'/* The same with other parameters. */\n{self.declaration(name, True)};\n'
                if self.takes_parameters(name)
                else ''
            )
            + '\n'
            for name, exported in self.functions.items()
        )
        up = self.prefix.upper()
        return (
            f'/*\n * Dynamic model of {c_comment(robot.name)}: {c_comment(origin)}.\n *\n'
            ' * Joints in this order:\n'
            f'{joints} *\n * Friction is included; Coulomb friction as'
            f' 2/pi atan({self.slope:g} dq).\n * Base parameters, SI units on the joint side:\n'
            f'{parameters} *\n * No allocation, no global data, no loops: bounded time.\n'
            ' * An output may be the same array as an input.\n */\n'
            f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
            f'#define {up}_JOINTS {robot.n}\n#define {up}_PARAMETERS {len(robot.base)}\n\n'
            '/* The identified parameters. */\n'
            f'void {self.prefix}_parameters(double chi[{len(robot.base)}]);\n\n'
            f'{declarations}#ifdef __cplusplus\n}}\n#endif\n\n#endif\n'
        )

    def source(self) -> str:
        """Return NAME_model.c."""
        values = [f'chi[{k}] = {literal(float(x))};' for k, x in enumerate(self.chi)]
        parts = [
            f'#include "{self.prefix}_model.h"\n\n#include <math.h>\n',
            f'void {self.prefix}_parameters(double chi[{len(self.chi)}])\n{{\n'
            f'{indented(values)}}}\n',
        ]
        for name in self.functions:
            parts.append(self._definition(name, False))
            if self.takes_parameters(name):
                parts.append(self._definition(name, True))
        return '\n'.join(parts)

    def takes_parameters(self, name: str) -> bool:
        """Whether a function has a variant that takes the parameters."""
        return 'chi' in FUNCTIONS[name].reads

    def declaration(self, name: str, free: bool) -> str:
        """Return the head of a function, free to take the parameters or not."""
        n, b, exported = self.robot.n, len(self.robot.base), self.functions[name]
        arguments = [f'const double chi[{b}]'] if free else []
        arguments += [
            f'const double {exported.x if key == "x" else key}[{n}]'
            for key in FUNCTIONS[name].reads
            if key != 'chi'
        ]
        sizes = {'W': n * b, 'M': n * n, 'by_q': n * n, 'by_dq': n * n, 'by_ddq': n * n}
        arguments += [f'double {out}[{sizes.get(out, n)}]' for out in exported.outputs.values()]
        kind = 'int' if name == 'direct_dynamics' else 'void'
        ending = '_with' if free else ''
        text = f'{kind} {self.prefix}_{name}{ending}(\n    ' + ', '.join(arguments) + ')'
        return text

    def _definition(self, name: str, free: bool) -> str:
        chi = None if free or not self.takes_parameters(name) else self.chi
        formula = trace(self.robot, name, True, chi, self.slope)
        exported = self.functions[name]
        body = Body(formula, {'x': exported.x}, outputs_first=True)
        reads = [
            exported.x if k == 'x' else k for k in FUNCTIONS[name].reads if k != 'chi' or free
        ]
        lines = [f'(void){key};' for key in reads] + list(body.statements)
        if name == 'direct_dynamics':
            good = ' && '.join(f'({guard})' for guard in body.guards) or '1'
            lines.append(f'if (!({good})) return 1;')
        lines += body.assignments(exported.outputs)
        if name == 'direct_dynamics':
            lines.append('return 0;')
        return f'{self.declaration(name, free)}\n{{\n{indented(lines)}}}\n'


def _units(robot: Robot, j: int) -> str:
    slides = bool(robot.kinematics.prismatic[robot.kinematics.own_body(j)])
    return 'm, m/s, m/s^2, N' if slides else 'rad, rad/s, rad/s^2, N.m'
