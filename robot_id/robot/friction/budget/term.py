"""
The definition of a budget term: dry friction as what it can hold, not as what it does.

A joint at rest stays at rest while the other torques are within its budget c >= 0; a joint that
moves is slowed by c, and stopped by less where that is enough. Each term adds

    c = parameter * f(motor, external, film),

with the torque of the motor, the external torque (gravity and velocity torques) and the film
exp(-(dq / vs)^2), which is 1 at rest and 0 at speed. The terms are those that Duclusaud et al.,
Extended Friction Models for the Physics Simulation of Servo Actuators, 2024, found in servos.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BudgetTerm:
    """
    One part of the budget.

    :param name: in options and files.
    :param symbol: of its parameter.
    :param equation: as people read it.
    :param unit: of its parameter, for a revolute joint.
    :param value: f(motor, external, film).
    :param slopes: (df/dmotor, df/dexternal, df/dfilm).
    """

    name: str
    symbol: str
    equation: str
    unit: str
    value: Callable[[Any, Any, Any], Any]
    slopes: Callable[[Any, Any, Any], tuple[Any, Any, Any]]

    @property
    def needs_film(self) -> bool:
        """Whether it depends on the Stribeck velocity."""
        return bool(self.slopes(1.0, -0.5, 0.5)[2] != 0.0)
