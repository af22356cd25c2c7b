"""
Stribeck friction, tau = Fs sign(dq) exp(-(dq / vs)^2).

The additional friction at low speed, before a film of lubricant has built up; with `coulomb`, the
friction at breakaway is Fc + Fs. The Stribeck velocity vs is not linear and is estimated by
variable projection.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.functions import exp
from robot_id.robot.friction.term import Column, Constant, FrictionTerm


def value(x: Any, s: Any, c: float) -> Any:
    """Return s exp(-(x / c)^2)."""
    return s * exp(-(x / c) * (x / c))


def slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds."""
    film = exp(-(x / c) * (x / c))
    return -2.0 * x / (c * c) * s * film, film


TERM = FrictionTerm(
    name='stribeck',
    equation='Fs sign(dq) exp(-(dq / vs)^2)',
    columns=(Column('Fs{}', value, slopes, jumps=True),),
    unit='N.m',
    constant=Constant('vs{}', default=0.1, lower=1e-3, upper=10.0, unit='rad/s'),
    not_negative=True,
)
