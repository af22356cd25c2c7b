"""The criteria: a new one is a file in this folder and a line here."""

from __future__ import annotations

from importlib import import_module

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.excitation.criteria.criterion import Criterion

_FILES = (
    'condition',
    'weighted',
    'determinant',
)

CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion
    for criterion in (
        import_module(f'robot_id.excitation.criteria.{file}').CRITERION for file in _FILES
    )
}


def criterion_of(name: str) -> Criterion:
    """Return a criterion by its name."""
    if name not in CRITERIA:
        raise OptionError(f"no criterion '{name}': {did_you_mean(name, CRITERIA)}")
    return CRITERIA[name]
