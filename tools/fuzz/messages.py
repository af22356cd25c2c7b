"""ROS messages that a broken or hostile node could send."""

from __future__ import annotations

import array
import importlib
import random
from typing import Any

from rosidl_parser.definition import (
    AbstractNestedType,
    AbstractString,
    Array,
    BasicType,
    NamespacedType,
)

FLOATS = (
    0.0, -0.0, 1.0, -1.0, float('nan'), float('inf'), -float('inf'), 1e308, -1e308, 5e-324, 1e30,
)  # fmt: skip
TEXTS = (
    '', 'carriage', 'joint_1', 'emps', 'x' * 100_000, '../../x', '/etc/passwd', 'a,b,stamp', '\n',
    'é\u202e', 'nan', '{[', 'idim_wls', 'cutoff_hz', 'stamp', 'known',
)  # fmt: skip
_BITS = {f'{u}int{b}': (u == 'u', b) for u in ('', 'u') for b in (8, 16, 32, 64)}
_LENGTHS = (0, 1, 1, 1, 2, 3, 7, 1000)


def hostile(kind: type, draw: random.Random, like: Any = None) -> Any:
    """
    Return a message of a type.

    :param like: a sound message; some of its fields are replaced, all of a fresh one when None.
    """
    message = kind()
    for name, slot in zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True):
        sound = getattr(like, name) if like is not None else None
        if sound is not None and draw.random() < 0.7:
            setattr(message, name, sound)
        elif sound is not None and isinstance(slot, NamespacedType):
            setattr(message, name, hostile(type(sound), draw, sound))
        else:
            setattr(message, name, _value(slot, draw, 0))
    return message


def _value(slot: Any, draw: random.Random, depth: int) -> Any:
    if isinstance(slot, AbstractNestedType):
        few = not isinstance(slot.value_type, BasicType)
        length = slot.size if isinstance(slot, Array) else draw.choice(_LENGTHS[: 7 if few else 8])
        values = [_value(slot.value_type, draw, depth + 1) for _ in range(length)]
        if not isinstance(slot.value_type, BasicType) or isinstance(slot, Array):
            return values
        codes = {'double': 'd', 'float': 'f', 'uint8': 'B', 'uint64': 'Q', 'int32': 'i'}
        code = codes.get(slot.value_type.typename)
        return array.array(code, values) if code else values
    if isinstance(slot, NamespacedType):
        module = importlib.import_module('.'.join(slot.namespaces))
        return hostile(getattr(module, slot.name), draw)
    if isinstance(slot, AbstractString):
        text = draw.choice(TEXTS)
        return text if depth == 0 else text[:200]
    if slot.typename == 'boolean':
        return draw.random() < 0.5
    if slot.typename == 'double':
        return draw.choice(FLOATS)
    if slot.typename == 'float':
        return draw.choice([x for x in FLOATS if not 1e38 < abs(x) < float('inf')])
    if slot.typename == 'octet':
        return bytes([draw.randrange(256)])
    unsigned, bits = _BITS[slot.typename]
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return draw.choice((low, high, 0, min(1, high), min(100, high), draw.randint(low, high)))
