"""
A scalar that records how it was computed: running a kernel on it gives the formula.

Constants are plain floats and are folded (0 x = 0, 1 x = x, x - x = 0); equal operations on equal
arguments are the same object, so common subexpressions are found while the kernel runs. Signs are
moved outwards and x / y is x (1 / y), so that more operations become equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

import numpy as np

from robot_id.exceptions import RobotIdError

Scalar = Union['Symbol', float]
COMMUTATIVE = frozenset(('add', 'mul'))


class TraceError(RobotIdError):
    """An operation on a symbol that has no formula, such as branching on it."""


class Fork(Exception):
    """A branch on a condition that is not decided yet."""

    def __init__(self, condition: Condition) -> None:
        self.condition = condition


class Trace:
    """
    All symbols of one formula, each operation once.

    :param take_guards: a branch outside of scalar functions is taken as true and noted in
        `guards`: the formula holds where all guards do (a pivot of Cholesky's is positive).
    """

    def __init__(self, take_guards: bool = False) -> None:
        self._known: dict[tuple[Any, ...], Symbol] = {}
        self._conditions: dict[tuple[Any, ...], Condition] = {}
        self.take_guards = take_guards
        self.guards: list[Condition] = []
        self.assumed: dict[Condition, bool] | None = None

    def input(self, name: str, positive: bool = False) -> Symbol:
        """Return the symbol of an input, such as 'q[0]'."""
        symbol = self.make('input', name)
        symbol.positive = positive
        return symbol

    def inputs(self, name: str, shape: tuple[int, ...]) -> Any:
        """Return an array of inputs, `name` indexed in C order."""
        count = int(np.prod(shape, dtype=int))
        out = np.empty(count, object)
        for k in range(count):
            out[k] = self.input(f'{name}[{k}]')
        return out.reshape(shape)

    def make(self, op: str, *args: Any) -> Symbol:
        """Return the one symbol of an operation."""
        if op in COMMUTATIVE and _rank(args[0]) > _rank(args[1]):
            args = (args[1], args[0])
        key = (op, *args)
        symbol = self._known.get(key)
        if symbol is None:
            symbol = self._known[key] = Symbol(self, op, args, len(self._known))
        return symbol

    def condition(self, op: str, left: Scalar, right: Scalar) -> Condition:
        """Return the one comparison of two scalars."""
        key = (op, left, right)
        found = self._conditions.get(key)
        if found is None:
            found = self._conditions[key] = Condition(self, op, left, right)
        return found

    def explore(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Call a function of scalars on all sides of its branches; joins them by selections."""
        before = self.assumed
        try:
            return self._explore(function, args, {} if before is None else before)
        finally:
            self.assumed = before

    def _explore(
        self, function: Callable[..., Any], args: tuple[Any, ...], assumed: dict[Condition, bool]
    ) -> Any:
        self.assumed = assumed
        try:
            return function(*args)
        except Fork as fork:
            condition = fork.condition
        yes = self._explore(function, args, {**assumed, condition: True})
        no = self._explore(function, args, {**assumed, condition: False})
        if isinstance(yes, tuple):
            return tuple(select(condition, a, b) for a, b in zip(yes, no))
        return select(condition, yes, no)


def _rank(x: Scalar) -> float:
    return x.number if isinstance(x, Symbol) else -1.0


class Condition:
    """A comparison of two scalars, at least one of them a symbol."""

    __slots__ = ('left', 'op', 'right', 'trace')

    def __init__(self, trace: Trace, op: str, left: Scalar, right: Scalar) -> None:
        self.trace, self.op, self.left, self.right = trace, op, left, right

    def __bool__(self) -> bool:
        trace = self.trace
        if trace.assumed is not None:
            if self in trace.assumed:
                return trace.assumed[self]
            raise Fork(self)
        if not trace.take_guards:
            raise TraceError('a kernel branches on a state outside of a function of scalars')
        trace.guards.append(self)
        return True


class Symbol:
    """One operation; `args` are symbols and floats."""

    __slots__ = ('args', 'number', 'op', 'positive', 'trace')

    def __init__(self, trace: Trace, op: str, args: tuple[Any, ...], number: int) -> None:
        self.trace, self.op, self.args, self.number = trace, op, args, number
        self.positive = False

    def __add__(self, other: Scalar) -> Scalar:
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return add(self, negative(other))

    def __rsub__(self, other: Scalar) -> Scalar:
        return add(negative(self), other)

    def __mul__(self, other: Scalar) -> Scalar:
        return multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if isinstance(other, Symbol):
            return multiply(self, reciprocal(other))
        return multiply(self, 1.0 / other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return multiply(reciprocal(self), other)

    def __neg__(self) -> Scalar:
        return negative(self)

    def __abs__(self) -> Scalar:
        return call('fabs', self)

    def __pow__(self, power: int) -> Scalar:
        if power != 2:
            raise TraceError('only squares have a formula, use products')
        return multiply(self, self)

    def __gt__(self, other: Scalar) -> Any:
        if self.positive and not isinstance(other, Symbol) and other <= 0.0:
            return True
        return self.trace.condition('>', self, other)

    def __lt__(self, other: Scalar) -> Any:
        return self.trace.condition('<', self, other)

    def __ge__(self, other: Scalar) -> Any:
        return self.trace.condition('>=', self, other)

    def __le__(self, other: Scalar) -> Any:
        return self.trace.condition('<=', self, other)

    def atan(self) -> Scalar:
        """Return the arc tangent."""
        return call('atan', self)

    def exp(self) -> Scalar:
        """Return the exponential."""
        return call('exp', self)

    def sign(self) -> Scalar:
        """Return 1 above zero, -1 below, else the symbol itself: 0 or not a number."""
        below = select(self.trace.condition('<', self, 0.0), -1.0, self)
        return select(self.trace.condition('>', self, 0.0), 1.0, below)

    def __bool__(self) -> bool:
        raise TraceError('a symbol is neither true nor false')

    def __float__(self) -> float:
        raise TraceError('a symbol has no value')


def negative(x: Scalar) -> Scalar:
    """Return -x."""
    if not isinstance(x, Symbol):
        return -x
    if x.op == 'neg':
        inner: Scalar = x.args[0]
        return inner
    if x.op == 'mul' and not isinstance(x.args[0], Symbol):
        return x.trace.make('mul', -x.args[0], x.args[1])
    return x.trace.make('neg', x)


def add(a: Scalar, b: Scalar) -> Scalar:
    """Return a + b."""
    if not isinstance(a, Symbol):
        if not isinstance(b, Symbol):
            return a + b
        a, b = b, a
    if not isinstance(b, Symbol):
        return a if b == 0.0 else a.trace.make('add', b, a)
    a_negative, b_negative = a.op == 'neg', b.op == 'neg'
    if a_negative and b_negative:
        return negative(add(a.args[0], b.args[0]))
    if b_negative:
        return _subtract(a, b.args[0])
    if a_negative:
        return _subtract(b, a.args[0])
    return a.trace.make('add', a, b)


def _subtract(a: Scalar, b: Scalar) -> Scalar:
    if a is b:
        return 0.0
    if not isinstance(a, Symbol) or not isinstance(b, Symbol):
        return add(a, negative(b))
    # a - b and b - a are one operation and a sign.
    if b.number < a.number:
        return a.trace.make('neg', a.trace.make('sub', b, a))
    return a.trace.make('sub', a, b)


def multiply(a: Scalar, b: Scalar) -> Scalar:
    """Return a b."""
    if not isinstance(a, Symbol):
        if not isinstance(b, Symbol):
            return a * b
        a, b = b, a
    if not isinstance(b, Symbol):
        if b == 0.0:
            return 0.0
        if b == 1.0:
            return a
        if b == -1.0:
            return negative(a)
        if a.op == 'neg':
            return multiply(a.args[0], -b)
        if a.op == 'mul' and not isinstance(a.args[0], Symbol):
            return multiply(a.args[1], a.args[0] * b)
        return a.trace.make('mul', float(b), a)
    if a.op == 'neg':
        return negative(multiply(a.args[0], b))
    if b.op == 'neg':
        return negative(multiply(a, b.args[0]))
    for x, y in ((a, b), (b, a)):
        if x.op == 'mul' and not isinstance(x.args[0], Symbol):
            return multiply(multiply(x.args[1], y), x.args[0])
    return a.trace.make('mul', a, b)


def reciprocal(x: Symbol) -> Scalar:
    """Return 1 / x."""
    if x.op == 'neg':
        return negative(reciprocal(x.args[0]))
    return x.trace.make('inv', x)


def select(condition: Condition, yes: Scalar, no: Scalar) -> Scalar:
    """Return `yes` where the condition holds, else `no`."""
    if yes is no or (not isinstance(yes, Symbol) and not isinstance(no, Symbol) and yes == no):
        return yes
    return condition.trace.make('select', condition, yes, no)


ODD = frozenset(('sin', 'atan', 'tanh', 'asinh'))
EVEN = frozenset(('cos', 'fabs', 'cosh'))


def call(name: str, x: Scalar) -> Scalar:
    """Return a function of libm at a symbol."""
    assert isinstance(x, Symbol)
    if x.op == 'neg' and name in ODD:
        return negative(call(name, x.args[0]))
    if x.op == 'neg' and name in EVEN:
        return call(name, x.args[0])
    return x.trace.make(name, x)
