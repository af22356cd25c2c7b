"""
Quadratic viscous friction, tau = Fq dq |dq|.

The drag of a churning lubricant; it can be separated from Fv dq only at high speeds.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.term import Column, FrictionTerm


def value(x: Any, s: Any, c: float) -> Any:
    """Return x |x|."""
    return x * abs(x)


def slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds."""
    return 2.0 * abs(x), 0.0


TERM = FrictionTerm(
    name='quadratic',
    equation='Fq dq |dq|',
    columns=(Column('Fq{}', value, slopes),),
    unit='N.m.s^2/rad^2',
)
