"""A part of the load that is known, such as the gripper that holds it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError, OptionError
from robot_id.experiment.payload.result import STANDARD
from robot_id.model import Payload

Array = NDArray[np.float64]
FORM = 'mass,x,y,z[,xx,xy,xz,yy,yz,zz]'


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


def known_part(text: str) -> KnownPart:
    """Return the part of an option: numbers (kg, m, kg m2), or a file that `payload` wrote."""
    if text.endswith('.json'):
        return _from_file(Path(text))
    try:
        values = [float(word) for word in text.split(',')]
    except ValueError:
        values = []
    if len(values) not in (4, 10):
        raise OptionError(
            f"known: '{text}' is neither {FORM} nor a .json file of payload",
            key='known',
            value=text,
        )
    x, y, z = values[1:4]
    xx, xy, xz, yy, yz, zz = values[4:] or (0.0,) * 6
    body = Payload(values[0], (x, y, z), (xx, xy, xz, yy, yz, zz))
    return KnownPart(body.parameters(), name=f'{values[0]:g} kg')


def _from_file(path: Path) -> KnownPart:
    try:
        rows = json.loads(path.read_text())['standard']
        pairs = [(rows[name]['value'], rows[name]['std']) for name in STANDARD]
        values = np.array([0.0 if v is None else float(v) for v, _ in pairs])
        deviations = np.array([0.0 if s is None else float(s) for _, s in pairs])
    except OSError as error:
        raise DataError(f'{path}: {error.strerror}') from error
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f'{path}: is not a file that payload wrote ({error!r})') from error
    return KnownPart(values, deviations, path.name)
