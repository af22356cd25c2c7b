"""
The functions that are generated: each runs the generic kernel once, on symbols, for one state.

Arrays of the robot are constants. Base parameters stand in the place of their standard column and
all regrouped ones are zero, as in `tree.split_parameters`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from robot_id.dynamics.generated.pure import pure
from robot_id.dynamics.generated.symbols import Condition, Scalar, Trace
from robot_id.dynamics.kernels.friction import add_friction
from robot_id.dynamics.kernels.models import (
    derivatives_kernel,
    direct_kernel,
    inertia_kernel,
    inverse_kernel,
)
from robot_id.dynamics.kernels.regressor import column_maps, regressor_kernel
from robot_id.dynamics.kernels.regressor_slopes import slopes_kernel
from robot_id.dynamics.kernels.tree import Tree, split_parameters, tree_of
from robot_id.robot import Robot

# Kinematic constants are that close to 0 or 1 by rounding alone, such as cos(pi/2).
ROUNDING = 1e-15


class Output(NamedTuple):
    """An array that a function fills, in C order."""

    name: str
    shape: tuple[int, ...]
    values: list[Scalar]


@dataclass(frozen=True)
class Formula:
    """
    A traced function of one state.

    :param inputs: names of the arrays it reads, with their number of elements.
    :param outputs: what it fills.
    :param guards: conditions that hold where the outputs are valid.
    """

    name: str
    inputs: dict[str, int]
    outputs: tuple[Output, ...]
    guards: tuple[Condition, ...] = ()


class Numbers(NamedTuple):
    """A robot for a kernel run on symbols or on counting numbers."""

    tree: Tree
    inertia: Any
    values: Any
    bodies: Any
    terms: Any
    n: int
    b: int
    factor: Any


def numbers_of(robot: Robot, chi: Any, constant: Callable[[float], Any] = float) -> Numbers:
    """
    Return the arrays of a robot as objects.

    :param chi: (b,) symbols or numbers.
    :param constant: what a constant of the robot becomes.
    """
    b = len(robot.base)
    units = [split_parameters(robot, unit) for unit in np.eye(b)]
    inertia, values = (_combine([unit[k] for unit in units], chi, constant) for k in range(2))
    bodies, terms, _ = column_maps(robot, False)
    factor = [constant(1.0 / x) for x in robot.base.factor]
    tree = Tree(*(_objects(x, constant) for x in tree_of(robot)))
    return Numbers(tree, inertia, values, bodies, terms, robot.n, b, factor)


def _combine(units: list[Any], chi: Any, constant: Callable[[float], Any]) -> Any:
    """Sum over k of chi_k unit_k, in objects."""
    out = np.empty(units[0].shape, object)
    for place in np.ndindex(out.shape):
        out[place] = constant(0.0)
        for k, unit in enumerate(units):
            if unit[place] != 0.0:
                out[place] = out[place] + chi[k] * constant(float(unit[place]))
    return out


def _objects(x: Any, constant: Callable[[float], Any]) -> Any:
    if x.dtype != float:
        return x
    whole = np.round(x)
    x = np.where(np.abs(x - whole) < ROUNDING, whole, x)
    out = np.empty(x.shape, object)
    for place in np.ndindex(x.shape):
        out[place] = constant(float(x[place]) + 0.0)
    return out


# The kernels on one state. All take (r: Numbers, q, dq, x, slope, G) with (1, n) arrays, and
# return the arrays by name; x is the acceleration, the torque of the direct model.


def inverse(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return tau(q, dq, ddq)."""
    tau = _zeros(1, r.n)
    pure(inverse_kernel)(r.tree, r.inertia, r.values, q, dq, x, slope, tau)
    return {'tau': tau}


def bias(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return N(q, dq): centrifugal, Coriolis, gravity and friction torques."""
    return inverse(r, q, dq, _zeros(1, r.n), slope, G)


def gravity(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return the torques that hold the robot at rest without friction and offset."""
    still = _zeros(1, r.n)
    rigid = r._replace(values=_zeros(*r.values.shape))
    return inverse(rigid, q, still, still, 0.0, G)


def friction(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return friction and offset torques at dq, less what grows with the load."""
    tau = _zeros(1, r.n)
    pure(add_friction)(r.tree, r.values, dq[0], slope, 1.0, tau[0])
    return {'tau': tau}


def inertia(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return M(q) with the rotors."""
    M = _zeros(1, r.n, r.n)
    pure(inertia_kernel)(r.tree, r.inertia, r.values, q, M)
    return {'M': M}


def direct(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return ddq under the torque x; the pivots of M(q) are the guards."""
    ddq = _zeros(1, r.n)
    pure(direct_kernel)(r.tree, r.inertia, r.values, q, dq, x, slope, ddq)
    return {'ddq': ddq}


def regressor(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return W (n, b) with tau = W chi: the derivative of the torque by chi."""
    W = _zeros(1, r.n, r.b)
    pure(regressor_kernel)(r.tree, r.bodies, r.terms, q, dq, x, slope, W)
    for k in range(r.b):
        for j in range(r.n):
            W[0, j, k] = W[0, j, k] * r.factor[k]
    return {'W': W}


def derivatives(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return d tau/d q, d tau/d dq and d tau/d ddq, (n, n) each."""
    parts = {name: _zeros(1, r.n, r.n) for name in ('by_q', 'by_dq', 'by_ddq')}
    pure(derivatives_kernel)(r.tree, r.inertia, r.values, q, dq, x, slope, *parts.values())
    return parts


def slopes(r: Numbers, q: Any, dq: Any, x: Any, slope: Any, G: Any) -> dict[str, Any]:
    """Return the slopes of sum(W * G) by q, dq and ddq, (n,) each."""
    parts = {name: _zeros(1, r.n) for name in ('by_q', 'by_dq', 'by_ddq')}
    scaled = _zeros(1, r.n, r.b)
    for k in range(r.b):
        for j in range(r.n):
            scaled[0, j, k] = G[0, j, k] * r.factor[k]
    pure(slopes_kernel)(r.tree, r.bodies, r.terms, q, dq, x, slope, scaled, *parts.values())
    return parts


class Function(NamedTuple):
    """
    A function to generate.

    :param run: the kernel on one state.
    :param reads: the arrays it reads, in the order of its arguments.
    :param frictional: whether it depends on how Coulomb friction is smoothed.
    """

    run: Callable[..., dict[str, Any]]
    reads: tuple[str, ...]
    frictional: bool


FUNCTIONS: dict[str, Function] = {
    'inverse_dynamics': Function(inverse, ('chi', 'q', 'dq', 'x'), True),
    'gravity': Function(gravity, ('chi', 'q'), False),
    'friction': Function(friction, ('chi', 'dq'), True),
    'inertia_matrix': Function(inertia, ('chi', 'q'), False),
    'bias': Function(bias, ('chi', 'q', 'dq'), True),
    'direct_dynamics': Function(direct, ('chi', 'q', 'dq', 'x'), True),
    'regressor': Function(regressor, ('q', 'dq', 'x'), True),
    'derivatives': Function(derivatives, ('chi', 'q', 'dq', 'x'), True),
    'regressor_slopes': Function(slopes, ('q', 'dq', 'x', 'G'), True),
}


def _zeros(*shape: int) -> Any:
    out = np.empty(shape, object)
    out[...] = 0.0
    return out


def trace(
    robot: Robot, name: str, smooth: bool, chi: Any = None, fixed_slope: float | None = None
) -> Formula:
    """
    Return the formula of a function for one robot.

    :param smooth: Coulomb friction as 2/pi atan(slope dq) with the input `slope`, else its sign.
    :param chi: (b,) numbers to take the parameters as constants, None for inputs.
    :param fixed_slope: positive number to take the slope as a constant, None for an input.
    """
    function = FUNCTIONS[name]
    b, n = len(robot.base), robot.n
    t = Trace(take_guards=True)
    sizes = {'chi': b, 'q': n, 'dq': n, 'x': n, 'G': n * b}
    arrays = {key: t.inputs(key, (size,)) for key, size in sizes.items()}
    parameters = arrays['chi'] if chi is None else [float(value) for value in chi]
    slope: Any = 0.0
    if smooth:
        slope = t.input('slope', positive=True) if fixed_slope is None else fixed_slope
    q, dq, x = (arrays[key].reshape(1, n) for key in ('q', 'dq', 'x'))
    filled = function.run(
        numbers_of(robot, parameters), q, dq, x, slope, arrays['G'].reshape(1, n, b)
    )
    outputs = tuple(
        Output(key, array.shape[1:], list(array.reshape(-1))) for key, array in filled.items()
    )
    reads = {key: sizes[key] for key in function.reads if key != 'chi' or chi is None}
    return Formula(name, reads, outputs, tuple(dict.fromkeys(t.guards)))
