"""
An offset of the torque, tau = Off.

It comes from the amplifier, or from Coulomb friction that differs by direction.
"""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.term import Column, FrictionTerm


def value(x: Any, s: Any, c: float) -> Any:
    """Return 1."""
    return 1.0


def slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds."""
    return 0.0, 0.0


TERM = FrictionTerm(
    name='offset', equation='Off', columns=(Column('Off{}', value, slopes),), unit='N.m', last=True
)
