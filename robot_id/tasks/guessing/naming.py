"""The name of a column taken apart: quantity, role, side, unit, and which joint."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from robot_id.data import units
from robot_id.data.unit_words import UNITS, plain, unit_of
from robot_id.tasks.guessing.words import JOINED, QUANTITY, ROLE, SIDE

# Quantity -> the units that fit it; a motor's force may stand under any torque.
FITTING = {
    'time': set(units.TIME),
    'position': {*units.POSITION, 'counts'},
    'velocity': {*units.VELOCITY, 'counts/s'},
    'acceleration': set(units.ACCELERATION),
    'torque': {*units.TORQUE, *units.SIGNAL} - {'1', 'V', 'mV'},
    'current': {'A', 'mA', '%'},
    'voltage': set(units.VOLTAGE),
    'temperature': set(units.TEMPERATURE),
}
# Letters that are more often a name than a unit: in brackets only.
_BRACKETS_ONLY = ('m', 'c', 'n', 'min', 'grad')
# A unit in brackets, such as [deg] or (rad/s).
_BRACKET = re.compile(r'[\[(<{]\s*([^\[\](){}<>]*?)\s*[\])>}]')
_PART = re.compile(r'[^\W\d_]+|\d+')
_CAMEL = re.compile(r'(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])')
# Endings of names that are units, longest first; short ones only behind a separator.
_ENDINGS = sorted(set(UNITS) - set(_BRACKETS_ONLY), key=len, reverse=True)


@dataclass(frozen=True)
class Name:
    """
    What the name of a column says; '' where it says nothing.

    :param joint: name of a joint of the robot, or a number, or ''.
    :param rest: words without a meaning here.
    :param template: words and unit of the name, numbers kept, the robot's own joint as #.
    """

    text: str
    quantity: str = ''
    role: str = ''
    side: str = ''
    unit: str = ''
    joint: str = ''
    rest: tuple[str, ...] = ()
    template: str = ''


def name_of(text: str, joints: Sequence[str]) -> Name:
    """
    Take a name apart.

    :param joints: names of the robot's joints.
    """
    whole, joint = _without_joint(text, joints)
    left, unit = _without_unit(whole)
    words = _words(left)
    roles = [ROLE[word] for word in words if word in ROLE]
    sides = [SIDE[word] for word in words if word in SIDE]
    quantity = _quantity(words, roles)
    if unit and quantity and unit not in FITTING.get(quantity, {unit}):
        unit, words = '', _words(whole)
    if 'd' in words[1:] and quantity in ('position', 'velocity', 'acceleration', 'torque'):
        roles.append('reference')  # q_d, dq_d: the desired ones
    numbers = [word for word in words if word.isdigit()]
    own = joint or (numbers[0] if numbers else '')
    known = {*QUANTITY, *ROLE, *SIDE}
    rest = tuple(word for word in words if word not in known and not word.isdigit())
    role = next((each for each in ('error', 'reference', 'actual') if each in roles), '')
    template = '_'.join(['#', *words] if joint else words) + f'|{unit}'
    side = 'motor' if 'motor' in sides else next(iter(sides), '')  # axis 3 motor position
    return Name(text, quantity, role, side, unit, own, rest, template)


def _quantity(words: list[str], roles: list[str]) -> str:
    """Return the quantity: `current_position` is a position, `tau_ext` and poses are others."""
    kinds = list(dict.fromkeys(QUANTITY[word] for word in words if word in QUANTITY))
    if 'other' in kinds:
        return 'other'
    if 'current' in kinds and len(kinds) > 1:  # the present one
        kinds.remove('current')
    for kind in ('acceleration', 'velocity', 'temperature', 'torque', 'current', 'duty'):
        if kind in kinds:
            return kind
    if not kinds and words in (['i'],) and not roles:
        return 'current'
    return kinds[0] if kinds else ('current' if 'i' in words and len(words) <= 3 else '')


def _without_joint(text: str, joints: Sequence[str]) -> tuple[str, str]:
    """Return the name without the robot's joint in it, and that joint."""
    flat = plain(text)
    for joint in sorted(joints, key=len, reverse=True):
        found = re.search(rf'(?<![^\W_]){re.escape(plain(joint))}(?![^\W_])', flat)
        if found and len(flat) == len(text) and not _is_word(joint):
            return f'{text[: found.start()]} {text[found.end() :]}', joint
    return text, ''


def _is_word(joint: str) -> bool:
    """Whether a joint is called as a quantity is, such as `q` or `position`."""
    return plain(joint) in QUANTITY


def _without_unit(text: str) -> tuple[str, str]:
    """Return the name without its unit, and the unit of a mapping ('' for none)."""
    for found in _BRACKET.finditer(text):
        unit = unit_of(found[1])
        if unit:
            return text[: found.start()] + ' ' + text[found.end() :], unit
    flat = plain(text).rstrip('_ .0123456789')
    for ending in _ENDINGS:
        for mark in ('_in_', ' in ', '_', ' ', '-', '.', '/'):
            if flat.endswith(mark + ending) and len(flat) > len(mark + ending):
                start = len(flat) - len(mark + ending)
                if len(ending) == 1 and plain(text)[len(flat) : len(flat) + 1].isdigit():
                    continue  # A1 is an axis, not an ampere
                return text[:start] + ' ' + text[len(flat) :], UNITS[ending]
    return text, ''


def _words(text: str) -> list[str]:
    """Return the words of a name; numbers are words of their own."""
    words: list[str] = []
    for part in _PART.findall(_CAMEL.sub(' ', text)):
        words += _joined(plain(part)) if not part.isascii() else [part.lower()]
    merged: list[str] = []
    for word in words:  # q_dot, theta dot, i_q
        if merged and merged[-1] + word in ('qdot', 'thetadot', 'qddot', 'iq', 'dq', 'ddq'):
            merged[-1] += word
        else:
            merged.append(word)
    return merged


def _joined(part: str) -> list[str]:
    """Return the known words inside a text that is written without blanks."""
    if part in {*QUANTITY, *ROLE, *SIDE} or part.isascii():
        return [part]
    for word in JOINED:
        before, found, after = part.partition(word)
        if found:
            return [*(_joined(before) if before else []), word, *(_joined(after) if after else [])]
    return [part]
