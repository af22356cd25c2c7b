"""
Viscous friction, tau = Fv dq.

On the shaft of a coupled motor it is Fvm, see robot_id.robot.parameters.drive_terms.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.term import Column, FrictionTerm


def value(x: Any, s: Any, c: float) -> Any:
    """Return x."""
    return x


def slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds."""
    return 1.0, 0.0


TERM = FrictionTerm(
    name='viscous',
    equation='Fv dq',
    columns=(Column('Fv{}', value, slopes, motor='Fvm{}'),),
    unit='N.m.s/rad',
    linear_in_speed=True,
)
