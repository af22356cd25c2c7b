"""
Coulomb friction with its own slope, tau = Fc 2/pi atan(alpha dq).

Real friction changes sign over a range of speeds instead of jumping. Here alpha is a constant of
the joint, estimated by variable projection, the same in identification, simulation and control.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.functions import smooth_sign, smooth_sign_slope
from robot_id.robot.friction.term import Column, Constant, FrictionTerm


def value(x: Any, s: Any, c: float) -> Any:
    """Return 2/pi atan(c x)."""
    return smooth_sign(x, c)


def slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds."""
    return smooth_sign_slope(x, c), 0.0


TERM = FrictionTerm(
    name='smooth_coulomb',
    equation='Fc 2/pi atan(alpha dq)',
    columns=(Column('Fc{}', value, slopes),),
    unit='N.m',
    constant=Constant('alpha{}', default=50.0, lower=1.0, upper=1e4, unit='s/rad'),
    replaces=('coulomb', 'asymmetric_coulomb'),
)
