"""Options of a dataclass as parameters of a node: with its type, default, choices and text."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from robot_id.options import Option, options_of
from robot_id.ranges import Range, range_of
from robot_id.ros.parameter_table import Row

# ROS parameters have no null: these values stand for an option that is derived.
_DERIVED: dict[type, Any] = {float: 0.0, int: 0, str: ''}


def rows_of(
    defaults: Any, names: Mapping[str, str] | None = None, only: Sequence[str] = ()
) -> tuple[Row, ...]:
    """
    Return one row for each option.

    :param defaults: an instance of the dataclass: its values are the defaults.
    :param names: names of parameters that differ from the option's.
    :param only: keys of the options that are parameters; () for all.
    """
    rows = []
    for key, option in _chosen(type(defaults), only).items():
        bounds = range_of(option.type) or Range(-float('inf'), float('inf'))
        lower, upper = bounds.low, bounds.high
        default, nothing = _default(option, getattr(defaults, key))
        if nothing:
            lower = min(lower, 0.0)
        rows.append(
            Row(
                (names or {}).get(key, key), default, _text(option.help, default, nothing),
                lower, upper, choices=_choices(option),
            )
        )  # fmt: skip
    return tuple(rows)


def values_of(
    cls: type,
    settings: Mapping[str, Any] | Any,
    names: Mapping[str, str] | None = None,
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the options that the parameters of a node stand for, None where they are derived."""
    found = {}
    for key, option in _chosen(cls, only).items():
        value = settings[(names or {}).get(key, key)]
        found[key] = None if _optional(option) and value in ('', 0, []) else value
    return found


def _chosen(cls: type, only: Sequence[str]) -> dict[str, Option]:
    known = options_of(cls)
    return {key: known[key] for key in only} if only else known


def _optional(option: Option) -> bool:
    return type(None) in typing.get_args(option.type)


def _default(option: Option, value: Any) -> tuple[Any, bool]:
    """Return the default of the parameter, and whether it stands for a derived value."""
    if value is not None or not _optional(option):
        return value, False
    kinds = [kind for kind in typing.get_args(option.type) if kind is not type(None)]
    if any(typing.get_origin(kind) is Sequence for kind in kinds):
        return [], True
    return _DERIVED[getattr(kinds[0], '__origin__', kinds[0])], True


def _choices(option: Option) -> tuple[str, ...]:
    is_literal = typing.get_origin(option.type) is Literal
    return typing.get_args(option.type) if is_literal else ()


def _text(text: str, default: Any, nothing: bool) -> str:
    text = text[:1].upper() + text[1:]
    if not nothing:
        return text
    word = 'empty' if default in ('', []) else '0'
    for said in ('; default: ', '; derived ', '; none means '):
        if said in text:
            return text.replace(said, f'; {word}: ')
    return f'{text} {word.capitalize()}: not given.'
