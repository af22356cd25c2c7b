"""
Budget of dry friction, c = Kl |external - motor|.

That is what the torque through the gear adds, wherever it comes from.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm
from robot_id.robot.friction.functions import sign


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return abs(external - motor)


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return -sign(external - motor), sign(external - motor), 0.0


TERM = BudgetTerm('load', 'Kl', 'c = Kl |external - motor|', '1', value, slopes)
