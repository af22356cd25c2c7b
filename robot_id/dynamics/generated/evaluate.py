"""
The number of operations of a formula, and its value by numpy to check the trace.

How many operations a function costs: generated for one robot, and by the generic kernels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from robot_id.dynamics.generated.functions import FUNCTIONS, Formula, Numbers, numbers_of, trace
from robot_id.dynamics.generated.symbols import Condition, Symbol
from robot_id.robot import Robot

_done: Counter[str] = Counter()


def operations_in_order(formula: Formula) -> list[Symbol]:
    """Return the symbols a formula needs, each after its arguments."""
    done: set[Symbol] = set()
    order: list[Symbol] = []
    roots = [x for guard in formula.guards for x in (guard.left, guard.right)]
    roots += [x for output in formula.outputs for x in output.values]
    for root in roots:
        stack = [root] if isinstance(root, Symbol) else []
        while stack:
            symbol = stack[-1]
            waiting = [x for x in arguments(symbol) if x not in done]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            if symbol not in done:
                done.add(symbol)
                order.append(symbol)
    return order


def arguments(symbol: Symbol) -> Iterator[Symbol]:
    """Yield the symbols a symbol is made of."""
    for x in symbol.args:
        if isinstance(x, Symbol):
            yield x
        elif isinstance(x, Condition):
            yield from (side for side in (x.left, x.right) if isinstance(side, Symbol))


def count(formula: Formula) -> dict[str, int]:
    """Return how many additions, multiplications (divisions too) and function calls it takes."""
    found: Counter[str] = Counter()
    for symbol in operations_in_order(formula):
        if symbol.op in ('add', 'sub'):
            found['additions'] += 1
        elif symbol.op in ('mul', 'inv'):
            found['multiplications'] += 1
        elif symbol.op not in ('input', 'neg', 'select'):
            found['functions'] += 1
    return {key: found[key] for key in ('additions', 'multiplications', 'functions')}


def evaluate(formula: Formula, **inputs: Any) -> dict[str, Any]:
    """
    Return the outputs at one state.

    :param inputs: the arrays by name, `slope` as a number.
    """
    flat = {f'{k}[{i}]': float(x) for k, a in inputs.items() for i, x in enumerate(np.ravel(a))}
    flat['slope'] = float(inputs.get('slope', 0.0))
    known: dict[Symbol, float] = {}

    def value(x: Any) -> float:
        return known[x] if isinstance(x, Symbol) else float(x)

    def holds(condition: Condition) -> bool:
        a, b = value(condition.left), value(condition.right)
        return {'>': a > b, '<': a < b, '>=': a >= b, '<=': a <= b}[condition.op]

    for s in operations_in_order(formula):
        if s.op == 'input':
            known[s] = flat[s.args[0]]
        elif s.op == 'select':
            known[s] = value(s.args[1] if holds(s.args[0]) else s.args[2])
        else:
            known[s] = _compute(s.op, [value(x) for x in s.args])
    if not all(holds(guard) for guard in formula.guards):
        raise ArithmeticError(f'{formula.name}: a guard does not hold')
    return {
        out.name: np.array([value(x) for x in out.values]).reshape(out.shape)
        for out in formula.outputs
    }


def _compute(op: str, x: list[float]) -> float:
    if op == 'add':
        return x[0] + x[1]
    if op == 'sub':
        return x[0] - x[1]
    if op == 'mul':
        return x[0] * x[1]
    if op == 'neg':
        return -x[0]
    if op == 'inv':
        return 1.0 / x[0]
    return float(getattr(math, op)(*x))


class CountingFloat(float):
    """A number whose additions and multiplications are counted."""

    def __add__(self, other: float) -> CountingFloat:
        return _counted('additions', float.__add__(self, other))

    def __sub__(self, other: float) -> CountingFloat:
        return _counted('additions', float.__sub__(self, other))

    def __rsub__(self, other: float) -> CountingFloat:
        return _counted('additions', float.__rsub__(self, other))

    def __mul__(self, other: float) -> CountingFloat:
        return _counted('multiplications', float.__mul__(self, other))

    def __truediv__(self, other: float) -> CountingFloat:
        return _counted('multiplications', float.__truediv__(self, other))

    def __rtruediv__(self, other: float) -> CountingFloat:
        return _counted('multiplications', float.__rtruediv__(self, other))

    def __neg__(self) -> CountingFloat:
        return CountingFloat(float.__neg__(self))

    def __abs__(self) -> CountingFloat:
        return CountingFloat(float.__abs__(self))

    __radd__ = __add__
    __rmul__ = __mul__


def _counted(what: str, value: float) -> CountingFloat:
    _done[what] += 1
    return CountingFloat(value)


def operation_counts(robot: Robot) -> dict[str, dict[str, dict[str, int]]]:
    """
    Return function -> 'generated' and 'generic' -> additions and multiplications.

    Coulomb friction is its sign; a division counts as a multiplication.
    """
    out = {}
    for name in FUNCTIONS:
        made = count(trace(robot, name, smooth=False))
        made.pop('functions')
        out[name] = {'generated': made, 'generic': _generic(robot, name)}
    return out


def _generic(robot: Robot, name: str) -> dict[str, int]:
    """Run the kernel once on counting numbers; unit rotors, so that M(q) is regular."""
    n, b = robot.n, len(robot.base)
    rng = np.random.default_rng(0)
    numbers: Numbers = numbers_of(robot, _counting(robot.regular_start()), CountingFloat)
    q, dq, x = (_counting(rng.normal(size=(1, n))) for _ in range(3))
    G = _counting(rng.normal(size=(1, n, b)))
    _done.clear()
    FUNCTIONS[name].run(numbers, q, dq, x, 0.0, G)
    return {key: _done[key] for key in ('additions', 'multiplications')}


def _counting(values: Any) -> Any:
    out = np.empty(values.shape, object)
    for place in np.ndindex(values.shape):
        out[place] = CountingFloat(values[place])
    return out
