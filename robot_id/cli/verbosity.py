"""How much the verbs print: --quiet and --verbose, before the verb or after it."""

from __future__ import annotations

import click

QUIET, NORMAL, VERBOSE = -1, 0, 1
_level = NORMAL


def quiet() -> bool:
    """Return whether only warnings and errors are wanted."""
    return _level <= QUIET


def verbose() -> bool:
    """Return whether more than usual is wanted."""
    return _level >= VERBOSE


def reset() -> None:
    """Start with the usual amount: a process may run several commands."""
    global _level
    _level = NORMAL


def add_to(command: click.Command) -> click.Command:
    """Give a group or a verb -q and -v, once."""
    if not any(parameter.name == 'quiet' for parameter in command.params):
        command.params += [
            _option('quiet', QUIET, 'Print warnings and errors only.'),
            _option('verbose', VERBOSE, 'Print every step, and where an error comes from.'),
        ]
    return command


def _option(name: str, level: int, text: str) -> click.Option:
    def set_level(ctx: click.Context, parameter: click.Parameter, given: bool) -> None:
        global _level
        if given:
            _level = level

    flags = [f'-{name[0]}', f'--{name}']
    return click.Option(flags, is_flag=True, expose_value=False, callback=set_level, help=text)
