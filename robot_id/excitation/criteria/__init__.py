"""The criteria: a new one is a file in this folder and a line in `CRITERION_TEXTS`."""

from __future__ import annotations

from importlib import import_module

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.excitation import CRITERION_TEXTS
from robot_id.excitation.criteria.criterion import Criterion

CRITERIA: dict[str, Criterion] = {
    name: import_module(f'{__name__}.{name}').CRITERION for name in CRITERION_TEXTS
}


def criterion_of(name: str) -> Criterion:
    """Return a criterion by its name."""
    if name not in CRITERIA:
        raise OptionError(f"no criterion '{name}': {did_you_mean(name, CRITERIA)}")
    return CRITERIA[name]
