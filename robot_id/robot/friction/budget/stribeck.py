"""
Budget of dry friction, c = Fs exp(-(dq / vs)^2).

That is the additional friction near standstill.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.budget.term import BudgetTerm


def value(motor: Any, external: Any, film: Any) -> Any:
    """Return the budget for a parameter of 1."""
    return film


def slopes(motor: Any, external: Any, film: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives by motor, external and film."""
    return 0.0, 0.0, 1.0


TERM = BudgetTerm('stribeck', 'Fs', 'c = Fs exp(-(dq / vs)^2)', 'N.m', value, slopes)
