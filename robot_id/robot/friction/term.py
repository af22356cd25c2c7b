"""
The definition of a friction term.

A term is one file: its equation, its columns, its functions and its constant. Each column is
linear in one parameter,

    torque = parameter * f(x, s, c) * m,

with the speed x = dq, the sign s of the speed (sharp, smooth, or averaged between samples, as the
caller decides), the constant c of the term, and a modulation m: 1, the load |tau_rigid| of the
joint, or the deviation of its temperature from the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

# f(x, s, c)
Value = Callable[[Any, Any, float], Any]
# (df/dx, df/ds) at (x, s, c)
Slopes = Callable[[Any, Any, float], tuple[Any, Any]]
Modulation = Literal['none', 'load', 'temperature']


@dataclass(frozen=True)
class Column:
    """
    One column of the regressor.

    :param name: of its parameter, {} is the number of the joint.
    :param value: f(x, s, c), of the functions in `functions` only, so that it can be compiled and
        traced.
    :param slopes: (df/dx, df/ds).
    :param jumps: whether f depends on the sign s.
    :param motor: name of the same friction on the shaft of a coupled motor, where it has one.
    """

    name: str
    value: Value
    slopes: Slopes
    jumps: bool = False
    motor: str | None = None


@dataclass(frozen=True)
class Constant:
    """
    A positive constant in which the term is not linear.

    :param name: of the constant, {} is the number of the joint.
    :param default: where its estimation starts.
    :param lower: smallest value.
    :param upper: largest value.
    :param unit: of a revolute joint.
    """

    name: str
    default: float
    lower: float
    upper: float
    unit: str


@dataclass(frozen=True)
class FrictionTerm:
    """
    One kind of friction.

    :param name: in robot files and commands.
    :param equation: as people read it.
    :param columns: one for each of its parameters.
    :param unit: of its parameters, for a revolute joint.
    :param constant: in which it is not linear, or None.
    :param modulation: what multiplies the function of the speed.
    :param replaces: terms that it generalises; both together are refused.
    :param holds: terms whose column it spans; both together are refused.
    :param linear_in_speed: f is proportional to x.
    :param not_negative: a negative parameter would not be this friction.
    :param last: its parameter stands after all others of the joint.
    """

    name: str
    equation: str
    columns: tuple[Column, ...]
    unit: str
    constant: Constant | None = None
    modulation: Modulation = 'none'
    replaces: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    linear_in_speed: bool = False
    not_negative: bool = False
    last: bool = False
