"""
Coulomb friction, tau = Fc sign(dq).

Identification takes the sign, or what its option `coulomb_slope` says; simulation and control take
2/pi atan(alpha dq) with alpha = `coulomb_slope` of the robot file (paper 003). On the shaft of a
coupled motor it is Fcm, see robot_id.robot.parameters.drive_terms.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.term import Column, FrictionTerm


def value(x: Any, s: Any, c: float) -> Any:
    """Return s."""
    return s


def slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds."""
    return 0.0, 1.0


TERM = FrictionTerm(
    name='coulomb',
    equation='Fc sign(dq)',
    columns=(Column('Fc{}', value, slopes, jumps=True, motor='Fcm{}'),),
    unit='N.m',
)
