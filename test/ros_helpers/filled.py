"""Interface values that differ in every field, the same in every process for the same seed."""

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

INTEGER_BITS = {
    f'{sign}int{bits}': (sign == 'u', bits) for sign in ('', 'u') for bits in (8, 16, 32, 64)
}


def interfaces(kind: str) -> list[type]:
    """Return all messages ('msg'), services ('srv') or actions ('action') of robot_id_msgs."""
    module = importlib.import_module(f'robot_id_msgs.{kind}')
    return [
        value
        for name, value in sorted(vars(module).items())
        if isinstance(value, type) and '_' not in name
    ]


def filled(kind: type, seed: int) -> Any:
    """Return an instance of a message type with all fields set."""
    return _message(kind, random.Random(f'{kind.__name__} {seed}'))


def _message(kind: type, source: random.Random) -> Any:
    message = kind()
    for name, slot in zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True):
        setattr(message, name, _value(slot, source))
    return message


def _value(slot: Any, source: random.Random) -> Any:
    if isinstance(slot, AbstractNestedType):
        length = slot.size if isinstance(slot, Array) else source.randint(1, 5)
        values = [_value(slot.value_type, source) for _ in range(length)]
        is_number = (
            isinstance(slot.value_type, BasicType) and slot.value_type.typename != 'boolean'
        )
        codes = {'double': 'd', 'float': 'f', 'uint8': 'B', 'uint64': 'Q'}
        return array.array(codes[slot.value_type.typename], values) if is_number else values
    if isinstance(slot, NamespacedType):
        module = importlib.import_module('.'.join(slot.namespaces))
        return _message(getattr(module, slot.name), source)
    if isinstance(slot, AbstractString):
        return ''.join(source.choices('abcXYZ 0123\'"\\/äχ', k=source.randint(1, 40)))
    if slot.typename == 'boolean':
        return source.random() < 0.5
    if slot.typename == 'float':
        return source.randint(-1000, 1000) / 8  # exact in 32 bits
    if slot.typename == 'double':
        return source.choice([source.gauss(0, 1e3), source.gauss(0, 1e-9), float('inf')])
    unsigned, bits = INTEGER_BITS[slot.typename]
    return (
        source.randrange(2**bits)
        if unsigned
        else source.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))
    )
