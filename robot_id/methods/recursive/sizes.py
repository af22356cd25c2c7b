"""Typical sizes of parameters, from nominal values of which some may be zero."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.exceptions import OptionError

Array = NDArray[np.float64]


def nominal_sizes(names: Sequence[str], values: ArrayLike) -> Array:
    """
    Return |value|, and where it is much below its kind (or zero) a tenth of the kind's largest.

    Kinds are inertias, first moments, rotors, viscous friction and so on: the letters of the name.
    A kind without any value takes a tenth of the median of all others.

    :param names: parameter names.
    :param values: nominal values, not all zero.
    """
    sizes = np.abs(np.asarray(values, float))
    if sizes.shape != (len(names),) or not np.all(np.isfinite(sizes)):
        raise OptionError(f'nominal values: {len(names)} finite numbers are needed')
    if not sizes.any():
        raise OptionError('nominal values are all zero: no sizes can be taken from them')
    kinds = np.array([_kind(name) for name in names])
    everything = 0.1 * float(np.median(sizes[sizes > 0.0]))
    out = sizes.copy()
    for kind in set(kinds):
        members = kinds == kind
        largest = float(sizes[members].max())
        floor = 0.1 * largest if largest > 0.0 else everything
        out[members] = np.maximum(sizes[members], floor)
    return out


def _kind(name: str) -> str:
    stem = re.match(r'[A-Za-z]+', name)
    text = stem.group(0) if stem else name
    return 'inertia' if re.fullmatch(r'[XYZ]{2}', text) else text
