"""
Budget of dry friction, c = Kse |external| exp(-(dq / vs)^2).

That is what gravity and velocity torques add near standstill.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm
from robot_id.robot.friction.functions import sign


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return film * abs(external)


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return 0.0, film * sign(external), abs(external)


TERM = BudgetTerm(
    'stribeck_load_external', 'Kse', 'c = Kse |external| exp(-(dq / vs)^2)', '1', value, slopes
)
