"""
Coulomb friction that changes with the temperature, tau = FcT (T - T0) sign(dq).

T is the temperature of the joint, T0 the reference temperature of the robot file. Together with
`coulomb` it reads (Fc + FcT (T - T0)) sign(dq).
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
    name='temperature_coulomb',
    equation='FcT (T - T0) sign(dq)',
    columns=(Column('FcT{}', value, slopes, jumps=True),),
    unit='N.m/K',
    modulation='temperature',
)
