"""
A formula as C99: one statement for each operation that is used more than once.

All functions over many samples have one signature, so that compiled loops can call any of them by
its address:

    int64_t NAME(int64_t N, const double *chi, double slope, const double *q, const double *dq,
                 const double *x, const double *G, double *out0, double *out1, double *out2)

with the samples one after the other in every array but chi. It returns -1, or the first sample
where a guard does not hold (M(q) is not positive definite).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from robot_id.dynamics.generated.evaluate import arguments, operations_in_order
from robot_id.dynamics.generated.functions import Formula
from robot_id.dynamics.generated.symbols import Condition, Scalar, Symbol
from robot_id.dynamics.generated.vectors import LANES, VECTORS, vector_call

LONGEST_EXPRESSION = 70
FEWEST_TOGETHER = 3  # fewer values of a function are faster by libm
INFIX = {'add': '+', 'sub': '-', 'mul': '*'}
SAMPLED = ('q', 'dq', 'x', 'G')


class Body:
    """
    The statements of a formula.

    :param formula: what to write.
    :param names: C names of input arrays that differ from those in the formula.
    :param outputs_first: compute all outputs before any is written, so that they may stand in
        the same memory as the inputs.
    :param together: compute sines and arc tangents of inputs eight at once, see `vectors`.
    """

    def __init__(
        self,
        formula: Formula,
        names: Mapping[str, str] | None = None,
        outputs_first: bool = False,
        together: bool = False,
    ) -> None:
        self.formula = formula
        self._names = dict(names or {})
        self._expressions: dict[Symbol, str] = {}
        order = operations_in_order(formula)
        self._uses = Counter(x for symbol in order for x in arguments(symbol))
        results = [x for out in formula.outputs for x in out.values if isinstance(x, Symbol)]
        self._uses.update(results)
        self._named = set(results) if outputs_first else set()
        self.statements: list[str] = []
        if together:
            self._write_together(order)
        for symbol in order:
            self._write(symbol)
        self.guards = [self._condition(guard) for guard in formula.guards]

    def _write(self, symbol: Symbol) -> None:
        """Write an operation whose arguments are written: a statement, or a part of later ones."""
        if symbol in self._expressions:
            return
        text = self._operation(symbol)
        keep = self._uses[symbol] > 1 or len(text) > LONGEST_EXPRESSION or symbol.op == 'inv'
        if (keep and symbol.op != 'input') or symbol in self._named:
            name = f't{len(self.statements)}'
            self.statements.append(f'const double {name} = {_open(text)};')
            text = name
        self._expressions[symbol] = text

    def _write_together(self, order: list[Symbol]) -> None:
        """Write first what sines and arc tangents are taken of, then these, in vectors."""
        for ops in (('sin', 'cos'), ('atan',)):
            calls = [x for x in order if x.op in ops and _is_early(x.args[0])]
            angles = list(dict.fromkeys(x.args[0] for x in calls))
            if len(angles) < FEWEST_TOGETHER:
                continue
            needed = set(angles)
            for symbol in reversed(order):
                needed.update(arguments(symbol) if symbol in needed else ())
            for symbol in order:
                if symbol in needed:
                    self._write(symbol)
            place = {x: divmod(k, LANES) for k, x in enumerate(angles)}
            for k in range(0, len(angles), LANES):
                values = ', '.join(_open(self.scalar(x)) for x in angles[k : k + LANES])
                self.statements.append(vector_call(ops, k // LANES, values))
            for symbol in calls:
                vector, lane = place[symbol.args[0]]
                self._expressions[symbol] = f'{symbol.op}{vector}[{lane}]'

    def assignments(self, targets: Mapping[str, str]) -> list[str]:
        """Return the statements that fill the outputs; targets are their C names."""
        return [
            f'{targets[output.name]}[{k}] = {_open(self.scalar(value))};'
            for output in self.formula.outputs
            for k, value in enumerate(output.values)
        ]

    def scalar(self, x: Scalar) -> str:
        """Return a symbol or a constant as C."""
        return self._expressions[x] if isinstance(x, Symbol) else literal(float(x))

    def _operation(self, symbol: Symbol) -> str:
        if symbol.op == 'input':
            array, bracket, rest = str(symbol.args[0]).partition('[')
            return self._names.get(array, array) + bracket + rest
        if symbol.op == 'select':
            condition, yes, no = symbol.args
            return f'({self._condition(condition)} ? {self.scalar(yes)} : {self.scalar(no)})'
        parts = [self.scalar(x) for x in symbol.args]
        if symbol.op in INFIX:
            return f'({parts[0]} {INFIX[symbol.op]} {parts[1]})'
        if symbol.op == 'neg':
            return f'(-{parts[0]})'
        if symbol.op == 'inv':
            return f'(1.0 / {parts[0]})'
        return f'{symbol.op}({", ".join(parts)})'

    def _condition(self, condition: Condition) -> str:
        left, right = self.scalar(condition.left), self.scalar(condition.right)
        return f'{left} {condition.op} {right}'


def _is_early(x: Scalar) -> bool:
    """Return whether a scalar is a sum of products of inputs."""
    if not isinstance(x, Symbol) or x.op == 'input':
        return True
    return x.op in ('neg', *INFIX) and all(_is_early(part) for part in x.args)


def _open(text: str) -> str:
    """Remove the brackets around a whole expression."""
    if not text.startswith('('):
        return text
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == '(') - (letter == ')')
        if depth == 0:
            return text[1:-1] if k == len(text) - 1 else text
    return text


def literal(x: float) -> str:
    """Return a constant that C reads as the same number."""
    text = repr(x + 0.0)
    return f'({text})' if text.startswith('-') else text


def indented(lines: list[str], depth: int = 1) -> str:
    """Return the lines of a block."""
    return ''.join('    ' * depth + line + '\n' for line in lines)


def batch_source(formula: Formula) -> str:
    """Return a whole C file with the function `run`."""
    body = Body(formula, together=True)
    outputs = {output.name: f'out{k}' for k, output in enumerate(formula.outputs)}
    lines = list(body.statements)
    if body.guards:
        lines.append(f'if (!({" && ".join(f"({guard})" for guard in body.guards)})) return s;')
    lines += body.assignments(outputs)
    steps = [f'{name} += {formula.inputs[name]};' for name in SAMPLED if name in formula.inputs]
    steps += [f'out{k} += {len(out.values)};' for k, out in enumerate(formula.outputs)]
    unused = {'chi', *SAMPLED} - set(formula.inputs)
    unused |= {f'out{k}' for k in range(len(formula.outputs), 3)}
    quiet = [f'(void){name};' for name in ('slope', *sorted(unused))]
    return (
        f'#include <math.h>\n#include <stdint.h>\n\n{VECTORS}\n'
        'int64_t run(\n'
        '    int64_t N, const double *restrict chi, double slope, const double *restrict q,\n'
        '    const double *restrict dq, const double *restrict x, const double *restrict G,\n'
        '    double *restrict out0, double *restrict out1, double *restrict out2)\n{\n'
        + indented(quiet)
        + '    for (int64_t s = 0; s < N; ++s) {\n'
        + indented(lines, 2)
        + indented(steps, 2)
        + '    }\n    return -1;\n}\n'
    )
