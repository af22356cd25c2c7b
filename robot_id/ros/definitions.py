"""The text of a message definition, from the class of the message."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

_SEQUENCE = re.compile(r'sequence<([^,>]+)(?:, *(\d+))?>')
_NAMES = {'double': 'float64', 'float': 'float32', 'boolean': 'bool', 'octet': 'byte'}
RULE = '=' * 80


def type_name(kind: Any) -> str:
    """Return such as 'sensor_msgs/msg/JointState'."""
    package, middle, _ = kind.__module__.split('.', 2)
    return f'{package}/{middle}/{kind.__name__}'


def definition(kind: Any) -> str:
    """Return the fields of a message as they stand in a bag, with the types that it uses."""
    lines, used = _fields(kind)
    parts, seen = [lines], set()
    while used:
        name = used.pop(0)
        if name in seen:
            continue
        seen.add(name)
        package, own = name.split('/')
        lines, more = _fields(getattr(import_module(f'{package}.msg'), own))
        parts.append(f'{RULE}\nMSG: {name}\n{lines}')
        used += more
    return ''.join(parts)


def _fields(kind: Any) -> tuple[str, list[str]]:
    """Return a line for each field, and the messages among their types."""
    lines, used = [], []
    for name, text in kind.get_fields_and_field_types().items():
        found = _SEQUENCE.fullmatch(text)
        base, end = (found[1], f'[{"<=" + found[2] if found[2] else ""}]') if found else (text, '')
        if '[' in base:
            base, size = base[:-1].split('[')
            end = f'[{size}]'
        used += [base] if '/' in base else []
        lines.append(f'{_NAMES.get(base, base)}{end} {name}\n')
    return ''.join(lines), used
