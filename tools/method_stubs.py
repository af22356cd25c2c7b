"""
Write robot_id/api/methods.pyi: the types of the methods' options, for editors and type checkers.

Usage: python tools/method_stubs.py
"""

from __future__ import annotations

import types
import typing
from pathlib import Path
from typing import Annotated, Any, Literal

from robot_id import options
from robot_id.api.methods import class_names
from robot_id.methods import registry

STUB = Path(__file__).resolve().parents[1] / 'robot_id' / 'api' / 'methods.pyi'
HEAD = """\
# Written by tools/method_stubs.py from the registry of methods; do not edit by hand.
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

class Method:
    name: ClassVar[str]
    options: dict[str, Any]
    def __init__(self, **given: Any) -> None: ...

def choose(name: str, given: Mapping[str, Any]) -> Method: ...
def class_names() -> dict[str, str]: ...
"""


def type_text(kind: Any) -> str:
    """Return an annotation as source, without ranges."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return type_text(inner[0])
    if origin in (typing.Union, types.UnionType):
        return ' | '.join(dict.fromkeys(type_text(part) for part in inner))
    if origin is Literal:
        return f'Literal[{", ".join(map(repr, inner))}]'
    if origin is not None:
        return f'Sequence[{type_text(inner[0])}]'
    if kind is type(None):
        return 'None'
    return kind.__name__ if isinstance(kind, type) else 'Any'


def stub() -> str:
    """Return the text of the file."""
    parts = [HEAD]
    for name, method in class_names().items():
        parts.append(f'\nclass {name}(Method):\n    def __init__(\n        self,\n        *,\n')
        for key, option in options.options_of(registry.method_class(method)).items():
            parts.append(f'        {key}: {type_text(option.type)} = ...,\n')
        parts.append('    ) -> None: ...\n')
    return ''.join(parts)


if __name__ == '__main__':
    STUB.write_text(stub())
