"""
Coulomb friction that grows with the load, tau = Fl sign(dq) |y|.

y is the torque of rigid bodies and rotors at the joint: the load presses the teeth against each
other, so strain-wave and worm gears have more friction under load. Fl has no unit and stays well
below 1. Together with `coulomb` it reads (Fc + Fl |y|) sign(dq).
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
    name='load',
    equation='Fl sign(dq) |tau_rigid|',
    columns=(Column('Fl{}', value, slopes, jumps=True),),
    unit='1',
    modulation='load',
    not_negative=True,
)
