"""Numbers of a robot file: plain, or expressions of pi such as '-pi/2'."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

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
        raise ValueError(f'not a number or an expression of pi: {expression!r}')

    if isinstance(expression, bool):
        raise ValueError(f'not a number: {expression!r}')
    if isinstance(expression, (int, float)):
        number = float(expression)
    else:
        try:
            number = value(ast.parse(str(expression), mode='eval').body)
        except (SyntaxError, ZeroDivisionError, OverflowError, RecursionError) as error:
            raise ValueError(f'not a number or an expression of pi: {expression!r}') from error
    if not math.isfinite(number):
        raise ValueError(f'must be finite, got {expression!r}')
    return number


def _not_zero(value: float) -> float:
    if value == 0.0:
        raise ValueError('must not be zero')
    return value


Number = Annotated[float, BeforeValidator(evaluate)]
NotZero = Annotated[float, BeforeValidator(lambda x: _not_zero(evaluate(x)))]
Positive = Annotated[float, BeforeValidator(evaluate), Field(gt=0)]
NotNegative = Annotated[float, BeforeValidator(evaluate), Field(ge=0)]
