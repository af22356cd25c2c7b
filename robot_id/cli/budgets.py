"""How much memory and time a verb may take: --memory and --time-limit."""

from __future__ import annotations

import functools
from typing import Any

import click

from robot_id import budget
from robot_id.exceptions import OptionError

_seconds: float | None = None


def reset() -> None:
    """Start with the usual budgets: a process may run several commands."""
    global _seconds
    _seconds = None
    budget.set_memory()
    budget.doing('')


def add_to(command: click.Command) -> click.Command:
    """Give a verb --memory and --time-limit, once."""
    if any(parameter.name == 'memory' for parameter in command.params):
        return command
    command.params += [
        click.Option(
            ['--memory'],
            metavar='SIZE',
            expose_value=False,
            callback=_set_memory,
            help='Memory limit for reading a file, such as 4GB.  [default: 512MB]',
        ),
        click.Option(
            ['--time-limit'],
            metavar='SECONDS',
            type=float,
            expose_value=False,
            callback=_set_seconds,
            help='Stop with an error after this many seconds.  [default: none]',
        ),
    ]
    work = command.callback
    assert work is not None

    @functools.wraps(work)
    def within(*args: Any, **options: Any) -> Any:
        with budget.time_limit(_seconds):
            return work(*args, **options)

    command.callback = within
    return command


def _set_memory(ctx: click.Context, parameter: click.Parameter, given: str | None) -> None:
    if given is not None:
        budget.set_memory(budget.parse_memory(given))


def _set_seconds(ctx: click.Context, parameter: click.Parameter, given: float | None) -> None:
    global _seconds
    if given is not None:
        if not 0.0 < given <= budget.LONGEST_S:
            raise OptionError(
                f'--time-limit {given:g} must lie between 0 and {budget.LONGEST_S:g}'
            )
        _seconds = given
