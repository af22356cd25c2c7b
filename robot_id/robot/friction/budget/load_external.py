"""
Budget of dry friction, c = Ke |external|.

That is what gravity and velocity torques add: the load on the output side of the gear.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm
from robot_id.robot.friction.functions import sign


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return abs(external)


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return 0.0, sign(external), 0.0


TERM = BudgetTerm('load_external', 'Ke', 'c = Ke |external|', '1', value, slopes)
