"""
The C source of a function of the regressor that computes eight samples at once.

A processor adds and multiplies four or eight numbers in the time of one, if they are samples of
the same quantity side by side. So q, dq, x are (n, N) here, and of the regressor and of G there
are the entries that act alone (A, N), a row for each entry. The signature is that of `c_writer`.
All functions but those of `vectors` are called for each lane.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from robot_id.dynamics.generated.c_writer import INFIX, indented, literal
from robot_id.dynamics.generated.evaluate import operations_in_order
from robot_id.dynamics.generated.functions import Formula
from robot_id.dynamics.generated.symbols import Condition, Scalar, Symbol
from robot_id.dynamics.generated.vectors import LANES, VECTORS

HEAD = f"""#include <math.h>
#include <stdint.h>

{VECTORS}
int64_t run(
    int64_t N, const double *restrict chi, double slope, const double *restrict q,
    const double *restrict dq, const double *restrict x, const double *restrict G,
    double *restrict out0, double *restrict out1, double *restrict out2)
{{
    (void)chi; (void)slope; (void)q; (void)dq; (void)x; (void)G;
    (void)out0; (void)out1; (void)out2;
    for (int64_t k = 0; k < N; k += {LANES}) {{
        const int64_t s = k + {LANES} <= N ? k : N - {LANES}; // the last ones overlap
"""
FOOT = '    }\n    return -1;\n}\n'


def lanes_source(formula: Formula, acting: NDArray[Any]) -> str:
    """
    Return a whole C file with the function `run`; N must be LANES at least.

    :param formula: of `regressor` or `regressor_slopes` with sign(dq).
    :param acting: (A,) indices of the entries of a regressor (n b,) that act.
    """
    writer = _Writer({int(flat): k for k, flat in enumerate(acting)})
    for symbol in operations_in_order(formula):
        writer.add(symbol)
    for k, output in enumerate(formula.outputs):
        values = output.values
        if output.name == 'W':
            values = [values[flat] for flat in acting]
        for i, value in enumerate(values):
            writer.lines.append(f'*(row *)(out{k} + {i} * N + s) = {writer.vector(value)};')
    return HEAD + indented(writer.lines, 2) + FOOT


class _Writer:
    """
    One statement for each operation.

    :param place: row of an entry of G.
    """

    def __init__(self, place: dict[int, int]) -> None:
        self.lines: list[str] = []
        self._place = place
        self._names: dict[Symbol, str] = {}
        self._turned: dict[Scalar, str] = {}

    def add(self, symbol: Symbol) -> None:
        """Write the statement of a symbol; those of its arguments stand before it."""
        if symbol.op in ('sin', 'cos'):
            self._names[symbol] = symbol.op + self._sines(symbol.args[0])
            return
        name = self._names[symbol] = f't{len(self._names)}'
        if symbol.op == 'input':
            text = self._input(str(symbol.args[0]))
        elif symbol.op in INFIX:
            left, right = (self._one(x) for x in symbol.args)
            text = f'{left} {INFIX[symbol.op]} {right}'
        elif symbol.op in ('neg', 'inv'):
            text = {'neg': '-', 'inv': '1.0 / '}[symbol.op] + self._one(symbol.args[0])
        else:
            loop = f'for (int l = 0; l < {LANES}; ++l)'
            self.lines.append(f'lanes {name}; {loop} {name}[l] = {self._in_lane(symbol)};')
            return
        self.lines.append(f'const lanes {name} = {text};')

    def vector(self, x: Scalar) -> str:
        """Return a value as lanes."""
        return self._names[x] if isinstance(x, Symbol) else f'(lanes){{}} + {literal(float(x))}'

    def _sines(self, angle: Scalar) -> str:
        """Write sine and cosine of an angle, once; return their number."""
        if angle not in self._turned:
            number = self._turned[angle] = str(len(self._turned))
            call = f'sines({self.vector(angle)}, &sin{number}, &cos{number});'
            self.lines.append(f'lanes sin{number}, cos{number}; {call}')
        return self._turned[angle]

    def _input(self, name: str) -> str:
        array, _, rest = name.partition('[')
        k = int(rest[:-1])
        if array == 'G':
            if k not in self._place:  # such an entry is zero but for rounding
                return '(lanes){}'
            k = self._place[k]
        return f'*(const row *)({array} + {k} * N + s)'

    def _one(self, x: Scalar) -> str:
        return self._names[x] if isinstance(x, Symbol) else literal(float(x))

    def _lane(self, x: Scalar) -> str:
        return f'{self._names[x]}[l]' if isinstance(x, Symbol) else literal(float(x))

    def _in_lane(self, symbol: Symbol) -> str:
        if symbol.op != 'select':
            return f'{symbol.op}({", ".join(self._lane(x) for x in symbol.args)})'
        condition, yes, no = symbol.args
        assert isinstance(condition, Condition)
        test = f'{self._lane(condition.left)} {condition.op} {self._lane(condition.right)}'
        return f'{test} ? {self._lane(yes)} : {self._lane(no)}'
