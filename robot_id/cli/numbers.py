"""Numbers of the command line: finite and within a usable range."""

from __future__ import annotations

from typing import Any

import click

from robot_id.exceptions import OptionError, shorten

LARGEST = 1e12


class _Bounded(click.ParamType):
    """
    A number within a range that fits all options; each option checks its own range.

    :param kind: click's type, which reads it.
    :param low: smallest value.
    """

    def __init__(self, kind: click.ParamType, low: float) -> None:
        self.kind, self.low, self.name = kind, low, kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number, or refuse it."""
        number = self.kind.convert(value, param, ctx)
        if not self.low <= number <= LARGEST:  # nor is NaN
            name = max(param.opts, key=len) if param is not None else 'number'
            raise OptionError(
                f'{name}: {shorten(value)} must be between {self.low:g} and {LARGEST:g}',
                key=name,
            )
        return number


def bound(verb: click.Command) -> click.Command:
    """Bound all plain numbers of a command; whole ones are counts, so none is negative."""
    for param in verb.params:
        if param.type is click.FLOAT:
            param.type = _Bounded(click.FLOAT, -LARGEST)
        elif param.type is click.INT:
            param.type = _Bounded(click.INT, 0)
    return verb
