"""A part of the load that is known, such as the gripper that holds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError, OptionError, shorten
from robot_id.methods.result_form import read_json
from robot_id.robot import Payload, Robot
from robot_id.tasks.payload.attachment import Attachment
from robot_id.tasks.payload.result import STANDARD
from robot_id.texts import LOAD_FORM, one_line

Array = NDArray[np.float64]
# No load of an arm has a larger mass, distance or inertia (kg, m, kg m2).
LARGEST = 1e6


@dataclass(frozen=True)
class KnownPart:
    """
    A body in the frame of the load.

    :param standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M at the origin of the frame.
    :param deviations: (10,) of them.
    :param name: what to call it.
    """

    standard: Array = field(default_factory=lambda: np.zeros(10))
    deviations: Array = field(default_factory=lambda: np.zeros(10))
    name: str = ''


def carrying(robot: Robot, chi: Array, part: KnownPart, place: Attachment) -> Array:
    """(b,) base parameters of a robot that carries a part, from those without it."""
    return np.asarray(chi + place.columns(robot) @ part.standard)


def known_part(text: str, option: str = 'known') -> KnownPart:
    """Return the part of an option: numbers (kg, m, kg m2), or a file that `payload` wrote."""
    if text.endswith('.json'):
        return _from_file(Path(text))
    try:
        values = [float(word) for word in text.split(',')]
    except ValueError:
        values = []
    if len(values) not in (4, 10) or not np.all(np.abs(values) <= LARGEST):
        raise OptionError(
            f"{option}: '{text}' is neither {LOAD_FORM} (each at most {LARGEST:g}) nor a .json "
            'file of payload',
            key=option,
            value=text,
        )
    x, y, z = values[1:4]
    xx, xy, xz, yy, yz, zz = values[4:] or (0.0,) * 6
    body = Payload(values[0], (x, y, z), (xx, xy, xz, yy, yz, zz))
    return KnownPart(body.parameters(), name=f'{values[0]:g} kg')


def _from_file(path: Path) -> KnownPart:
    content = read_json(path)
    try:
        rows = content['standard']
        pairs = [(_number(rows[name]['value']), _number(rows[name]['std'])) for name in STANDARD]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f'{path}: is not a file that payload wrote ({error!r})') from error
    values, deviations = np.array(pairs).T
    if np.any(deviations < 0.0) or values[9] < 0.0:
        raise DataError(f'{path}: a mass or a standard deviation is negative')
    return KnownPart(values, deviations, one_line(path.name))


def _number(value: Any) -> float:
    """Return a number of a file, 0 for what it does not determine."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > LARGEST:
        raise ValueError(f'{shorten(repr(value), 80)} is not a number of at most {LARGEST:g}')
    return float(value)
