"""
Budget of dry friction, c = Qm motor^2.

That is what a large torque of the motor adds beyond proportion.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return motor * motor


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return 2.0 * motor, 0.0, 0.0


TERM = BudgetTerm('quadratic_load_motor', 'Qm', 'c = Qm motor^2', '1/(N.m)', value, slopes)
