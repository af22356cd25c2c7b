"""
The compiled kernels as plain Python, so that they run on symbols and on counting numbers.

A kernel's source stays where it is and is the only one: its function is taken out of numba, and
the names it looks up (other kernels, math, numpy) are bound to versions that understand both.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from robot_id.dynamics.generated.symbols import Condition, Symbol, Trace, TraceError, call, select

UNARY = ('sin', 'cos', 'tan', 'atan', 'sqrt', 'exp', 'log', 'tanh', 'cosh', 'sinh', 'asinh')


def _unary(name: str) -> Callable[[Any], Any]:
    plain = getattr(math, name)

    def function(x: Any) -> Any:
        if isinstance(x, Symbol):
            return call(name, x)
        return type(x)(plain(x)) if isinstance(x, float) else plain(x)

    return function


def _sign(x: Any) -> Any:
    return x.sign() if isinstance(x, Symbol) else type(x)(np.sign(x))


def _maximum(a: Any, b: Any) -> Any:
    return _choose('>', a, b) if _any_symbol(a, b) else builtins.max(a, b)


def _minimum(a: Any, b: Any) -> Any:
    return _choose('<', a, b) if _any_symbol(a, b) else builtins.min(a, b)


def _choose(op: str, a: Any, b: Any) -> Any:
    trace: Trace = (a if isinstance(a, Symbol) else b).trace
    return select(trace.condition(op, a, b), a, b)


def _any_symbol(*values: Any) -> bool:
    return any(isinstance(x, Symbol) for x in values)


def _power(x: Any, y: Any) -> Any:
    if not _any_symbol(x, y):
        return x**y
    trace: Trace = (x if isinstance(x, Symbol) else y).trace
    return trace.make('pow', x, y)


def _finite(x: Any) -> Any:
    if isinstance(x, (Symbol, Condition)):
        raise TraceError('isfinite has no formula')
    return np.isfinite(x)


def _number(x: Any) -> Any:
    return x if isinstance(x, (Symbol, float)) else float(x)


def _objects(shape: Any, *_: Any) -> Any:
    out = np.empty(shape, object)
    out[...] = 0.0
    return out


_FUNCTIONS: dict[str, Any] = {name: _unary(name) for name in UNARY}
MATH = SimpleNamespace(
    **_FUNCTIONS, pi=math.pi, fabs=abs, pow=_power, copysign=math.copysign, isfinite=_finite
)
NUMPY = SimpleNamespace(
    **_FUNCTIONS, pi=math.pi, nan=math.nan, sign=_sign, abs=abs, arctan=_FUNCTIONS['atan'],
    empty=_objects, zeros=_objects, isfinite=_finite, power=_power,
)  # fmt: skip
_BUILTINS: dict[str, Any] = {'max': _maximum, 'min': _minimum, 'float': _number}

_twins: dict[Any, Any] = {}


def pure(kernel: Any) -> Any:
    """Return the plain Python function of a compiled kernel, whose callees are plain too."""
    twin = _twins.get(kernel)
    if twin is None:
        source = kernel.py_func
        names = dict(_BUILTINS)
        inner = tuple(CellType(_plain(cell.cell_contents)) for cell in source.__closure__ or ())
        twin = _twins[kernel] = _branching(
            FunctionType(source.__code__, names, source.__name__, source.__defaults__, inner)
        )
        names.update({name: _plain(value) for name, value in source.__globals__.items()})
    return twin


def _plain(value: Any) -> Any:
    if value is math or value is np:
        return MATH if value is math else NUMPY
    if isinstance(value, Dispatcher):
        return pure(value)
    if isinstance(value, ModuleType) and value.__name__.startswith('robot_id.'):
        members = {k: v for k, v in vars(value).items() if isinstance(v, Dispatcher)}
        return SimpleNamespace(**{k: pure(v) for k, v in members.items()})
    return value


def _branching(function: Callable[..., Any]) -> Callable[..., Any]:
    """Follow all branches of a function of scalars; one that fills arrays runs as it is."""

    def run(*args: Any) -> Any:
        symbol = next((x for x in args if isinstance(x, Symbol)), None)
        if symbol is None or any(isinstance(x, (np.ndarray, tuple)) for x in args):
            return function(*args)
        return symbol.trace.explore(function, args)

    return run
