"""
Viscous friction that changes with the temperature, tau = FvT (T - T0) dq.

T is the temperature of the joint, T0 the reference temperature of the robot file; a lubricant
becomes thinner as it warms up, so FvT is negative. Together with `viscous` it reads (Fv + FvT (T -
T0)) dq.
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
    name='temperature_viscous',
    equation='FvT (T - T0) dq',
    columns=(Column('FvT{}', value, slopes),),
    unit='N.m.s/(rad.K)',
    modulation='temperature',
)
