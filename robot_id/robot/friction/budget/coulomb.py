"""
Budget of dry friction, c = Fc.

That is the part that neither load nor speed changes.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return 1.0


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return 0.0, 0.0, 0.0


TERM = BudgetTerm('coulomb', 'Fc', 'c = Fc', 'N.m', value, slopes)
