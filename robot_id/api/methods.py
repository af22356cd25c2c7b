"""
The methods as objects with plain keyword options: `IdimWls(cutoff_hz=40)`.

The classes are made from the registry; their types for editors and type checkers stand in
methods.pyi, which tools/method_stubs.py writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

from robot_id import options
from robot_id.methods import registry


class Method:
    """
    A method with the options that differ from their defaults.

    :raises OptionError: for an option that it does not have, or a value out of its range.
    """

    name: ClassVar[str] = ''

    def __init__(self, **given: Any) -> None:
        registry.create(self.name, given)
        self.options: dict[str, Any] = given

    def __repr__(self) -> str:
        given = ', '.join(f'{key}={value!r}' for key, value in self.options.items())
        return f'{type(self).__name__}({given})'

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((self.name, repr(sorted(self.options.items(), key=str))))


def choose(name: str, given: Mapping[str, Any]) -> Method:
    """Return a method by its name, with options by key."""
    full = registry.full_name(name)
    own = registry.METHODS[full].rpartition(':')[2]
    made: Method = __getattr__(own)(**given)
    return made


def class_names() -> dict[str, str]:
    """Return class name -> method name, such as IdimWls -> idim_wls."""
    return {place.rpartition(':')[2]: name for name, place in registry.METHODS.items()}


def __getattr__(name: str) -> type[Method]:
    """Make the class of a method when it is first asked for."""
    known = class_names()
    if name not in known:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    own = registry.method_class(known[name])
    made = type(name, (Method,), {'name': known[name], '__doc__': inspect.cleandoc(own.__doc__)})
    made.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type
            )
            for key, one in options.options_of(own).items()
        ]
    )
    made.__module__ = __name__
    globals()[name] = made
    return made
