"""
Viscous friction that grows with the load, tau = Flv dq |y|.

y is the torque of rigid bodies and rotors at the joint, see `load`.
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
    name='load_viscous',
    equation='Flv dq |tau_rigid|',
    columns=(Column('Flv{}', value, slopes),),
    unit='s/rad',
    modulation='load',
)
