"""All methods with their options, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from robot_id import options
from robot_id.methods import registry
from robot_id.plain_table import html_table, text_table


@dataclass(frozen=True)
class MethodInfo:
    """
    What a method is.

    :param name: for `identify(method=name)`.
    :param summary: one line.
    :param options: by key, with type, default and meaning.
    """

    name: str
    summary: str
    options: dict[str, options.Option]


class MethodList(Sequence[MethodInfo]):
    """All methods; prints as a table."""

    def __init__(self) -> None:
        self._all = [
            MethodInfo(
                name, registry.summary(name), options.options_of(registry.method_class(name))
            )
            for name in registry.names()
        ]

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[MethodInfo]:
        return iter(self._all)

    def _rows(self) -> list[tuple[str, str]]:
        return [(one.name, one.summary) for one in self._all]

    def __repr__(self) -> str:
        return text_table(('method', 'what it does'), self._rows(), left=2)

    def _repr_html_(self) -> str:
        return html_table(('method', 'what it does'), self._rows(), left=2)


def methods() -> MethodList:
    """Return all methods with their options."""
    return MethodList()
