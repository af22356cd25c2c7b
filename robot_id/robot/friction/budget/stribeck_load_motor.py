"""
Budget of dry friction, c = Ksm |motor| exp(-(dq / vs)^2).

That is what the torque of the motor adds near standstill.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm
from robot_id.robot.friction.functions import sign


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return film * abs(motor)


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return film * sign(motor), 0.0, abs(motor)


TERM = BudgetTerm(
    'stribeck_load_motor', 'Ksm', 'c = Ksm |motor| exp(-(dq / vs)^2)', '1', value, slopes
)
