"""All budget terms. A new one is one file in this folder and one line here."""

from __future__ import annotations

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.robot.friction.budget import (
    coulomb,
    load,
    load_external,
    load_motor,
    quadratic_load_external,
    quadratic_load_motor,
    stribeck,
    stribeck_load,
    stribeck_load_external,
    stribeck_load_motor,
)
from robot_id.robot.friction.budget.term import BudgetTerm

TERMS: dict[str, BudgetTerm] = {
    module.TERM.name: module.TERM
    for module in (
        coulomb,
        stribeck,
        load,
        stribeck_load,
        load_motor,
        load_external,
        stribeck_load_motor,
        stribeck_load_external,
        quadratic_load_motor,
        quadratic_load_external,
    )
}
# Friction that is no budget: proportional to the speed.
VISCOUS = 'viscous'
# What a selection chooses among, from simple to rich; each is a list of terms.
STRUCTURES: dict[str, tuple[str, ...]] = {
    'coulomb': (VISCOUS, 'coulomb'),
    'stribeck': (VISCOUS, 'coulomb', 'stribeck'),
    'load': (VISCOUS, 'coulomb', 'load'),
    'stribeck_load': (VISCOUS, 'coulomb', 'stribeck', 'load', 'stribeck_load'),
    'directional': (VISCOUS, 'coulomb', 'load_motor', 'load_external'),
    'stribeck_directional': (
        VISCOUS, 'coulomb', 'stribeck', 'load_motor', 'load_external', 'stribeck_load_motor',
        'stribeck_load_external',
    ),
    'quadratic': (
        VISCOUS, 'coulomb', 'stribeck', 'load_motor', 'load_external', 'stribeck_load_motor',
        'stribeck_load_external', 'quadratic_load_motor', 'quadratic_load_external',
    ),
}  # fmt: skip


def parse_structure(text: str, key: str = 'friction') -> tuple[str, ...]:
    """Return the terms of a structure's name or of a comma-separated list."""
    if text in STRUCTURES:
        return STRUCTURES[text]
    names = tuple(name.strip() for name in text.split(',') if name.strip())
    known = [VISCOUS, *TERMS]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, [*STRUCTURES, *known])
            raise OptionError(
                f"{key}: no friction term '{name}' with stick, {hint}", key=key, value=name
            )
        if names.count(name) > 1:
            raise OptionError(f"{key}: '{name}' appears more than once", key=key, value=name)
    return names
