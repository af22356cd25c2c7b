"""
Budget of dry friction, c = Ksl |external - motor| exp(-(dq / vs)^2).

That is what the torque through the gear adds near standstill.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm
from robot_id.robot.friction.functions import sign


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return film * abs(external - motor)


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return -film * sign(external - motor), film * sign(external - motor), abs(external - motor)


TERM = BudgetTerm(
    'stribeck_load', 'Ksl', 'c = Ksl |external - motor| exp(-(dq / vs)^2)', '1', value, slopes
)
