"""A formula as C99: one statement for each operation that is used more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from robot_id.dynamics.generated.evaluate import arguments, operations_in_order
from robot_id.dynamics.generated.functions import Formula
from robot_id.dynamics.generated.symbols import Condition, Scalar, Symbol

LONGEST_EXPRESSION = 70
INFIX = {'add': '+', 'sub': '-', 'mul': '*'}


class Body:
    """
    The statements of a formula.

    :param formula: what to write.
    :param names: C names of input arrays that differ from those in the formula.
    :param outputs_first: compute all outputs before any is written, so that they may stand in
        the same memory as the inputs.
    """

    def __init__(
        self,
        formula: Formula,
        names: Mapping[str, str] | None = None,
        outputs_first: bool = False,
    ) -> None:
        self.formula = formula
        self._names = dict(names or {})
        self._expressions: dict[Symbol, str] = {}
        order = operations_in_order(formula)
        uses = Counter(x for symbol in order for x in arguments(symbol))
        uses.update(x for out in formula.outputs for x in out.values if isinstance(x, Symbol))
        results = {x for out in formula.outputs for x in out.values if isinstance(x, Symbol)}
        self.statements: list[str] = []
        for symbol in order:
            text = self._operation(symbol)
            keep = uses[symbol] > 1 or len(text) > LONGEST_EXPRESSION or symbol.op == 'inv'
            keep = symbol.op != 'input' and keep
            if keep or (outputs_first and symbol in results):
                name = f't{len(self.statements)}'
                self.statements.append(f'const double {name} = {_open(text)};')
                text = name
            self._expressions[symbol] = text
        self.guards = [self._condition(guard) for guard in formula.guards]

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
