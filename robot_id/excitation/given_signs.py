"""
Compiled friction for a given sign: f(kind, x, s, c) of all terms of the registry, and its slopes.

`dynamics.friction` has the sign of the speed x itself; here it is s, whatever it comes from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_id.dynamics import friction  # noqa: F401 - makes the functions of a term known to numba
from robot_id.dynamics.kernels import INLINED
from robot_id.kernel_cache import njit
from robot_id.model.friction import COLUMNS, Column

# Inlined into its callers: a function made here has no source file to be cached by.
_INLINED = {key: value for key, value in INLINED.items() if key != 'cache'}


def _value(kind: int, column: Column, rest: Any) -> Any:
    value = njit(**_INLINED)(column.value)

    def link(wanted, x, s, c):  # type: ignore[no-untyped-def]
        if wanted == kind:
            return float(value(x, s, c))
        return rest(wanted, x, s, c)

    return njit(**_INLINED)(link)


def _slopes(kind: int, column: Column, rest: Any) -> Any:
    slopes = njit(**_INLINED)(column.slopes)

    def link(wanted, x, s, c):  # type: ignore[no-untyped-def]
        if wanted == kind:
            by_x, by_s = slopes(x, s, c)
            return float(by_x), float(by_s)
        return rest(wanted, x, s, c)

    return njit(**_INLINED)(link)


value_of_sign = njit(**_INLINED)(lambda kind, x, s, c: np.nan)
slopes_of_sign = njit(**_INLINED)(lambda kind, x, s, c: (np.nan, np.nan))
for _k, (_term, _column) in enumerate(COLUMNS):
    if _column.jumps:
        value_of_sign = _value(_k + 1, _column, value_of_sign)
        slopes_of_sign = _slopes(_k + 1, _column, slopes_of_sign)
