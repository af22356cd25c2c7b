"""
Budget of dry friction, c = Km |motor|.

That is what the torque of the motor adds: the load on the motor side of the gear.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm
from robot_id.robot.friction.functions import sign


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return abs(motor)


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return sign(motor), 0.0, 0.0


TERM = BudgetTerm('load_motor', 'Km', 'c = Km |motor|', '1', value, slopes)
