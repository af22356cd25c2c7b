"""Mutations of bytes and of structure; the same generator state gives the same mutant."""

from __future__ import annotations

import copy
import json
import random
import re
import struct
from typing import Any

import yaml

# What hurt something once, or looks as if it could.
VALUES: tuple[Any, ...] = (
    '', 'nan', 'inf', '-inf', '1e308', '-1e308', '5e-324', '0', '-1', '1e9', '1e-9', '1e30', '2',
    '99999999999999999999', '9' * 5000, 'x' * 3000, '[', '{', ']', 'null', 'true', '~', '*a', '&a',
    '2024-13-45', '\x00', '\u00e9', '../..', '-' * 3000 + '1', 'pi/0', '1-3000000000', '1_000',
)  # fmt: skip
OBJECTS: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, -1e308, 5e-324, float('nan'), float('inf'), 10**400, 1e12, [], {},
    [[]], [{}], 'x', '', '9' * 300, [0] * 1000, {'x': 1}, 3, 0.5,
)  # fmt: skip
# Counts and lengths of binary formats.
HUGE = (0, 1, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)
# Bytes that a repeated line may add; what is larger tests the memory of the fuzz alone.
_LONGER = 1 << 20
_NUMBER = re.compile(rb'-?\d+\.?\d*(?:[eE][-+]?\d+)?')


def damage(raw: bytes, draw: random.Random) -> bytes:
    """Flip, overwrite, insert, cut, repeat or swap bytes, some times over."""
    data = bytearray(raw)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        if not data:
            break
        at, size = draw.randrange(len(data)), draw.choice((1, 1, 2, 4, 8, 64, 1000))
        kind = draw.randrange(8)
        if kind == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at : at + size] = draw.randbytes(min(size, len(data) - at))
        elif kind == 2:
            del data[at : at + size]
        elif kind == 3:
            data[at:at] = draw.randbytes(size)
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            data[at:at] = data[at : at + size]
        elif kind == 6:
            data[at : at + 8] = struct.pack('<Q', draw.choice(HUGE))
        else:
            other = draw.randrange(len(data))
            data[at : at + size], data[other : other + size] = (
                data[other : other + size],
                data[at : at + size],
            )
    return bytes(data)


def damage_text(raw: bytes, draw: random.Random) -> bytes:
    """Replace numbers and words by hostile ones, or lines by each other."""
    for _ in range(draw.choice((1, 1, 2, 5))):
        places = list(_NUMBER.finditer(raw))
        if places and draw.random() < 0.7:
            place = draw.choice(places)
            value = draw.choice(VALUES).encode()
            raw = raw[: place.start()] + value + raw[place.end() :]
            continue
        lines = raw.splitlines(keepends=True)
        if not lines:
            return raw
        at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        kind = draw.randrange(4)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            # The only line of a log is the whole log.
            most = max(_LONGER // max(len(lines[other]), 1), 1)
            lines[at:at] = [lines[other]] * min(draw.choice((1, 2, 100)), most)
        elif kind == 2:
            lines[at] = draw.choice(VALUES).encode() + b'\n'
        else:
            lines[at], lines[other] = lines[other], lines[at]
        raw = b''.join(lines)
    return raw


def splice(raw: bytes, other: bytes, draw: random.Random) -> bytes:
    """Put the end of another file behind the beginning of this one, or blocks of it into it."""
    at, there = draw.randrange(len(raw) + 1), draw.randrange(len(other) + 1)
    kind = draw.randrange(3)
    if kind == 0:
        return raw[:at] + other[there:]
    size = draw.choice((16, 512, 4096))
    if kind == 1:
        return raw[:at] + other[there : there + size] + raw[at + size :]
    return raw[:at] + raw[at : at + size] * draw.choice((2, 10, 200)) + raw[at + size :]


def every_number(raw: bytes, draw: random.Random) -> bytes:
    """Multiply or replace all numbers, or those of one line."""
    if draw.random() < 0.5:
        lines = raw.splitlines(keepends=True)
        at = draw.randrange(len(lines)) if lines else 0
        first, middle, last = b''.join(lines[:at]), b''.join(lines[at : at + 1]), lines[at + 1 :]
        return first + _numbers(middle, draw) + b''.join(last)
    return _numbers(raw, draw)


def _numbers(raw: bytes, draw: random.Random) -> bytes:
    factor = draw.choice((0.0, -1.0, 1e-9, 1e9, 1e200, 1e-200))
    value = draw.choice(VALUES).encode() if draw.random() < 0.3 else None

    def other(found: re.Match[bytes]) -> bytes:
        return value if value is not None else repr(factor * float(found[0])).encode()

    return _NUMBER.sub(other, raw)


def nest(raw: bytes, draw: random.Random) -> bytes:
    """Wrap a part of a text into thousands of brackets, tags or indents."""
    at, depth = draw.randrange(len(raw) + 1), draw.choice((60, 3000, 100_000))
    opening, closing = draw.choice((
        (b'[', b']'), (b'{"a":', b'}'), (b'(', b')'), (b'<a>', b'</a>'), (b'- ', b''),
        (b'"', b'"'), (b'\xf0\x9f\xa4\x96', b''), (b'\0', b''), (b'&a ', b''),
        (b'!!python/object:x ', b''),
    ))  # fmt: skip
    end = draw.choice((at, len(raw)))
    return raw[:at] + opening * depth + raw[at:end] + closing * depth + raw[end:]


def damage_tree(raw: bytes, draw: random.Random) -> bytes:
    """Replace, remove, repeat or rename entries of a YAML or JSON text."""
    is_json = raw.lstrip()[:1] == b'{'
    content = json.loads(raw) if is_json else yaml.safe_load(raw)
    for _ in range(draw.choice((1, 1, 2, 3))):
        _change(content, draw)
    if is_json:
        return json.dumps(content).encode()
    return yaml.dump(content, sort_keys=False).encode()


def _change(content: Any, draw: random.Random) -> None:
    node = content
    while True:
        if not isinstance(node, (dict, list)) or not node:
            return
        key = draw.choice(list(node) if isinstance(node, dict) else range(len(node)))
        child = node[key]
        if isinstance(child, (dict, list)) and child and draw.random() < 0.8:
            node = child
            continue
        break
    kind = draw.randrange(5)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, dict):
        node[draw.choice((1, None, 'x', str(key) + 'x', 2.5, True))] = child
    elif kind == 2 and isinstance(node, list):
        node[key:key] = [child] * draw.choice((1, 5))
    else:
        # A copy: the next change may go into it.
        node[key] = copy.deepcopy(draw.choice((*OBJECTS, *VALUES)))
