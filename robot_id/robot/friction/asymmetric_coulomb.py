"""Coulomb friction by direction, tau = Fc+ max(sign(dq), 0) + Fc- min(sign(dq), 0)."""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.functions import above, below, negative, positive
from robot_id.robot.friction.term import Column, FrictionTerm


def forward(x: Any, s: Any, c: float) -> Any:
    """Return max(s, 0)."""
    return positive(s)


def forward_slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds of `forward`."""
    return 0.0, above(s)


def backward(x: Any, s: Any, c: float) -> Any:
    """Return min(s, 0)."""
    return negative(s)


def backward_slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds of `backward`."""
    return 0.0, below(s)


TERM = FrictionTerm(
    name='asymmetric_coulomb',
    equation='Fc+ max(sign(dq), 0) + Fc- min(sign(dq), 0)',
    columns=(
        Column('Fc{}+', forward, forward_slopes, jumps=True),
        Column('Fc{}-', backward, backward_slopes, jumps=True),
    ),
    unit='N.m',
    replaces=('coulomb',),
    holds=('offset',),
)
