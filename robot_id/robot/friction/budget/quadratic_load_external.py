"""
Budget of dry friction, c = Qe external^2.

That is what large gravity and velocity torques add beyond proportion.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return external * external


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return 0.0, 2.0 * external, 0.0


TERM = BudgetTerm('quadratic_load_external', 'Qe', 'c = Qe external^2', '1/(N.m)', value, slopes)
