"""Where a fit gives no robot that can exist: the same fit among those that can."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_id.estimation.result import Result
from robot_id.estimation.result_form import LEVELS

if TYPE_CHECKING:
    from robot_id.estimation.registry import Method
    from robot_id.experiment.verdict import Remark

# A possible robot that explains the data this much worse is not taken instead.
WORSE = 1.25


def possible_method(
    method: Method, options: dict[str, Any], impossible: list[Remark]
) -> Method | None:
    """
    Return the method with physical=true, None where there is no reason for it.

    :param options: as given: who chose `physical` has chosen.
    :param impossible: remarks on M(q).
    """
    if not impossible or 'physical' in options or getattr(method, 'essential', False):
        return None
    if not hasattr(method, 'physical'):
        return None
    return replace(method, physical=True)  # type: ignore[type-var]


def better(first: Result, possible: Result) -> Result:
    """Return the result to use, which says what happened."""
    what = 'relative error'
    before, after = first.relative_error_percent, possible.relative_error_percent
    if np.isfinite(first.holdout_error_percent) and np.isfinite(possible.holdout_error_percent):
        what = 'hold-out error'
        before, after = first.holdout_error_percent, possible.holdout_error_percent
    figures = f'{what} {before:.3g} -> {after:.3g} %'
    better_judged = LEVELS.index(possible.verdict) <= LEVELS.index(first.verdict)
    if after <= WORSE * before and better_judged:
        said = (
            'M(q) was not positive definite: fitted again with physical=true, '
            f'{figures}; physical=false keeps the first fit'
        )
        return replace(possible, warnings=(said, *possible.warnings))
    said = f'M(q) is not positive definite, and physical=true explains less: {figures}'
    return replace(first, warnings=(said, *first.warnings))
