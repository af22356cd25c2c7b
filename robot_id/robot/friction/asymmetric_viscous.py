"""Viscous friction by direction, tau = Fv+ max(dq, 0) + Fv- min(dq, 0)."""

from __future__ import annotations

from typing import Any

from robot_id.robot.friction.functions import above, below, negative, positive
from robot_id.robot.friction.term import Column, FrictionTerm


def forward(x: Any, s: Any, c: float) -> Any:
    """Return max(x, 0)."""
    return positive(x)


def forward_slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds of `forward`."""
    return above(x), 0.0


def backward(x: Any, s: Any, c: float) -> Any:
    """Return min(x, 0)."""
    return negative(x)


def backward_slopes(x: Any, s: Any, c: float) -> tuple[Any, Any]:
    """Return df/dx and df/ds of `backward`."""
    return below(x), 0.0


TERM = FrictionTerm(
    name='asymmetric_viscous',
    equation='Fv+ max(dq, 0) + Fv- min(dq, 0)',
    columns=(
        Column('Fv{}+', forward, forward_slopes),
        Column('Fv{}-', backward, backward_slopes),
    ),
    unit='N.m.s/rad',
    replaces=('viscous',),
)
