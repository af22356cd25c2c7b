"""Bounds on masses and centres in a robot file, which a physical fit keeps."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from robot_id.exceptions import shorten

AXES = ('x', 'y', 'z')
AxisName = Literal['x', 'y', 'z']
# Longest expression in characters; largest number: no length, mass or limit of a robot is larger.
LONGEST = 200
LARGEST = 1e15
# Smallest value of a number that must not be zero, so that its inverse is usable.
SMALLEST = 1e-15
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def evaluate(expression: Any) -> float:
    """Return the value of a number or of an expression such as '-pi/2' or '2*pi/3'."""

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.Name) and node.id == 'pi':
            return math.pi
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return _BINARY[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
            return _UNARY[type(node.op)](value(node.operand))
        raise ValueError(f'not a number or an expression of pi: {shorten(repr(expression))}')

    if isinstance(expression, bool) or not isinstance(expression, (int, float, str)):
        raise ValueError(f'not a number: {shorten(repr(expression))}')
    try:
        if not isinstance(expression, str):
            number = float(expression)
        elif len(expression) > LONGEST:
            raise ValueError(
                f'an expression of {len(expression)} characters, at most {LONGEST} are allowed'
            )
        else:
            number = value(ast.parse(expression.strip(), mode='eval').body)
    except (SyntaxError, ZeroDivisionError, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f'not a number or an expression of pi: {_shown(expression)}') from error
    if not abs(number) <= LARGEST:
        word = 'finite' if not math.isfinite(number) else f'below {LARGEST:g}'
        raise ValueError(f'must be {word}, got {_shown(expression)}')
    return number


def _shown(expression: Any) -> str:
    """Return a value for a message; Python does not print numbers of thousands of digits."""
    if isinstance(expression, int) and expression.bit_length() > 10_000:
        return f'a whole number of {expression.bit_length()} bits'
    return shorten(repr(expression))


def _not_zero(value: float) -> float:
    if value == 0.0:
        raise ValueError('must not be zero')
    return math.copysign(_not_tiny(abs(value)), value)


def _not_tiny(value: float) -> float:
    if 0.0 < value < SMALLEST:
        raise ValueError(f'must be at least {SMALLEST:g}')
    return value


Number = Annotated[float, BeforeValidator(evaluate)]
NotZero = Annotated[float, BeforeValidator(lambda x: _not_zero(evaluate(x)))]
Positive = Annotated[float, BeforeValidator(evaluate), Field(gt=0), AfterValidator(_not_tiny)]
Rate = Annotated[float, BeforeValidator(evaluate), Field(ge=1e-3, le=1e6)]
NotNegative = Annotated[float, BeforeValidator(evaluate), Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True)


class TotalMass(_Strict):
    """
    Mass of all moving links together, as weighed or as the maker prints it.

    :param value: kg.
    :param std: its standard deviation, kg; None: 1 % of the value.
    """

    value: Positive
    std: Positive | None = None


class Plate(_Strict):
    """A flat link: thin along one axis of its frame, its mass around the plane through 0."""

    normal: AxisName
    thickness: Positive


class LinkBounds(_Strict):
    """
    Bounds of one link, in the frame of its joint.

    :param mass: [lower, upper], kg.
    :param centre: [lower, upper] of the centre of mass along x, y and z, m; null where free.
    :param symmetric: normals of the planes through the origin that mirror the link.
    :param planar: the link is a flat plate.
    """

    mass: tuple[NotNegative, Positive] | None = None
    centre: (
        tuple[
            tuple[Number, Number] | None,
            tuple[Number, Number] | None,
            tuple[Number, Number] | None,
        ]
        | None
    ) = None
    symmetric: tuple[AxisName, ...] = ()
    planar: Plate | None = None

    @model_validator(mode='after')
    def _ordered(self) -> LinkBounds:
        named = [('mass', self.mass)]
        named += [(f'centre {axis}', pair) for axis, pair in zip(AXES, self.centre or ())]
        for name, pair in named:
            if pair is not None and not pair[0] < pair[1]:
                raise ValueError(f'{name}: lower {pair[0]:g} is not below upper {pair[1]:g}')
        for axis in self.mirrors:
            pair = (self.centre or (None,) * 3)[AXES.index(axis)]
            if pair is not None and not pair[0] < 0.0 < pair[1]:
                raise ValueError(f'centre {axis}: a link that mirrors along {axis} has it at 0')
        return self

    @property
    def mirrors(self) -> tuple[AxisName, ...]:
        """Axes along which the link mirrors itself."""
        return tuple({*self.symmetric, *((self.planar.normal,) if self.planar else ())})


class Bounds(_Strict):
    """
    Bounds of a robot.

    :param total_mass: of all moving links.
    :param links: by the name of the joint that carries the link.
    """

    total_mass: TotalMass | None = None
    links: dict[str, LinkBounds] = {}
