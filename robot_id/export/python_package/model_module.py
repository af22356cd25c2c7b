"""Source of the exported module, one numpy statement an operation; it is run and compared."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.dynamics.generated.c_writer import Body
from robot_id.dynamics.generated.functions import FUNCTIONS, trace
from robot_id.dynamics.generated.symbols import Symbol
from robot_id.dynamics.load import takes_load
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.exceptions import DataError
from robot_id.robot import Robot
from robot_id.texts import one_line

Array = NDArray[np.float64]
# Functions of C that have another name in numpy.
NUMPY = {'atan': 'arctan', 'asinh': 'arcsinh', 'fabs': 'abs'}
# Function: name of its third input, and what it returns.
ABOUT = {
    'inverse_dynamics': ('ddq', '(..., n) joint torques of a motion'),
    'gravity': ('ddq', '(..., n) torques that hold the robot at rest, no friction, no offset'),
    'friction': ('ddq', '(..., n) friction and offset torques'),
    'inertia_matrix': ('ddq', '(..., n, n) inertia matrix with the rotors'),
    'bias': ('ddq', '(..., n) torques at zero acceleration'),
    'direct_dynamics': ('tau', '(..., n) accelerations under joint torques'),
    'regressor': ('ddq', '(..., n, b) regressor, tau = W @ PARAMETERS'),
}
STATES = 200
# Relative to the largest torque: rounding of two orders of the same operations.
TOLERANCE = 1e-10


class PythonBody(Body):
    """The statements of a formula, of arrays whose last axis is the joint."""

    def _operation(self, symbol: Symbol) -> str:
        if symbol.op == 'input':
            return super()._operation(symbol).replace('[', '[..., ')
        if symbol.op == 'select':
            condition, yes, no = symbol.args
            return f'np.where({self._condition(condition)}, {self.scalar(yes)}, {self.scalar(no)})'
        text = super()._operation(symbol)
        if text.startswith(f'{symbol.op}('):
            return f'np.{NUMPY.get(symbol.op, symbol.op)}{text[len(symbol.op) :]}'
        return text


class ModelModule:
    """
    The module of one robot.

    :param chi: (b,) identified base parameters.
    """

    def __init__(self, robot: Robot, chi: Array) -> None:
        self.robot, self.chi = robot, chi
        self.slope = float(robot.description.coulomb_slope)
        self.names = [name for name in ABOUT if name != 'regressor' or not takes_load(robot)]

    def calls(self) -> list[tuple[str, str]]:
        """Return the call of every function and what it returns."""
        return [(f'{name}({", ".join(self._reads(name))})', ABOUT[name][1]) for name in self.names]

    def source(self, origin: str) -> str:
        """Return the text of the module."""
        robot = self.robot
        parameters = ''.join(
            f'    {one_line(name)!r}: {float(value)!r},\n'
            for name, value in zip(robot.base.names, self.chi)
        )
        about = one_line(f'Dynamic model of {robot.name}: {origin}.').replace('\\', '/')
        return (
            '"""'
            + about.replace('"', "'")
            + '\n\nSI units on the joint side; inputs (..., n) for any number of states.\n"""\n\n'
            'import numpy as np\n\n'
            f'JOINTS = {tuple(one_line(name) for name in robot.joint_names)!r}\n'
            f'PARAMETERS = {{\n{parameters}}}\n'
            + ''.join(f'\n\n{self._function(name)}' for name in self.names)
        )

    def _reads(self, name: str) -> list[str]:
        return [ABOUT[name][0] if k == 'x' else k for k in FUNCTIONS[name].reads if k != 'chi']

    def _function(self, name: str) -> str:
        chi = self.chi if 'chi' in FUNCTIONS[name].reads else None
        formula = trace(self.robot, name, True, chi, self.slope)
        body = PythonBody(formula, {'x': ABOUT[name][0]})
        reads = self._reads(name)
        (output,) = formula.outputs
        listed = ', '.join(reads)
        lines = (
            [f'{listed} = np.broadcast_arrays(*(np.asarray(x, float) for x in ({listed})))']
            if len(reads) > 1
            else [f'{listed} = np.asarray({listed}, float)']
        )
        lines += [
            statement.removeprefix('const double ').removesuffix(';')
            for statement in body.statements
        ]
        for guard in body.guards:
            lines += [
                f'if not np.all({guard}):',
                "    raise ValueError('the inertia matrix is not positive definite')",
            ]
        lines.append(f'out = np.zeros({reads[0]}.shape[:-1] + {(len(output.values),)!r})')
        lines += [
            f'out[..., {k}] = {body.scalar(value)}'
            for k, value in enumerate(output.values)
            if isinstance(value, Symbol) or value != 0.0
        ]
        shaped = (
            f'out.reshape(out.shape[:-1] + {output.shape!r})' if len(output.shape) > 1 else 'out'
        )
        lines.append(f'return {shaped}')
        code = ''.join(f'    {line}\n' for line in lines)
        return f'def {name}({listed}):\n    """Return {ABOUT[name][1]}."""\n{code}'


def compare(robot: Robot, chi: Array, folder: str, package: str) -> str:
    """Return a line on how well torques and accelerations agree; raise where they do not."""
    module = runpy.run_path(str(Path(folder) / package / '__init__.py'))
    slope = float(robot.description.coulomb_slope)
    rng = np.random.default_rng(1)
    q = sample_configurations(robot, STATES)
    dq, ddq = rng.normal(size=(2, *q.shape))
    tau = dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope)
    found = module['inverse_dynamics'](q, dq, ddq)
    again = module['inverse_dynamics'](q, dq, module['direct_dynamics'](q, dq, tau))
    size = float(np.abs(tau).max())
    error = max(float(np.abs(x - tau).max()) for x in (found, again)) / size
    if not error <= TOLERANCE:
        raise DataError(f'{folder}: read back, its torques differ by {error:.2g} of the largest')
    return f'read back: torques of {STATES} states agree within {error:.1e} of the largest'
