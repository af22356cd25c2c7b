"""
Budget terms: dry friction as what it can hold, not as what it does, and structures of them.

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

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.robot.friction.functions import sign


@dataclass(frozen=True)
class BudgetTerm:
    """
    One part of the budget.

    :param name: in options and files.
    :param symbol: of its parameter.
    :param equation: as people read it.
    :param unit: of its parameter, for a revolute joint.
    :param value: f(motor, external, film), of the functions in `functions` only, so that it can
        be compiled.
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


# m: torque of the motor, e: external torque, f: film. A new term is one entry; the compiled loop
# knows them by their order.
_ALL = (
    # What neither load nor speed changes.
    BudgetTerm(
        'coulomb', 'Fc', 'c = Fc', 'N.m',
        lambda m, e, f: 1.0,
        lambda m, e, f: (0.0, 0.0, 0.0),
    ),
    # What comes on top near standstill.
    BudgetTerm(
        'stribeck', 'Fs', 'c = Fs exp(-(dq / vs)^2)', 'N.m',
        lambda m, e, f: f,
        lambda m, e, f: (0.0, 0.0, 1.0),
    ),
    # What the torque through the gear adds, wherever it comes from.
    BudgetTerm(
        'load', 'Kl', 'c = Kl |external - motor|', '1',
        lambda m, e, f: abs(e - m),
        lambda m, e, f: (-sign(e - m), sign(e - m), 0.0),
    ),
    BudgetTerm(
        'stribeck_load', 'Ksl', 'c = Ksl |external - motor| exp(-(dq / vs)^2)', '1',
        lambda m, e, f: f * abs(e - m),
        lambda m, e, f: (-f * sign(e - m), f * sign(e - m), abs(e - m)),
    ),
    # What the load on the motor side of the gear adds.
    BudgetTerm(
        'load_motor', 'Km', 'c = Km |motor|', '1',
        lambda m, e, f: abs(m),
        lambda m, e, f: (sign(m), 0.0, 0.0),
    ),
    # What the load on its output side adds: gravity and velocity torques.
    BudgetTerm(
        'load_external', 'Ke', 'c = Ke |external|', '1',
        lambda m, e, f: abs(e),
        lambda m, e, f: (0.0, sign(e), 0.0),
    ),
    BudgetTerm(
        'stribeck_load_motor', 'Ksm', 'c = Ksm |motor| exp(-(dq / vs)^2)', '1',
        lambda m, e, f: f * abs(m),
        lambda m, e, f: (f * sign(m), 0.0, abs(m)),
    ),
    BudgetTerm(
        'stribeck_load_external', 'Kse', 'c = Kse |external| exp(-(dq / vs)^2)', '1',
        lambda m, e, f: f * abs(e),
        lambda m, e, f: (0.0, f * sign(e), abs(e)),
    ),
    # What large torques add beyond proportion.
    BudgetTerm(
        'quadratic_load_motor', 'Qm', 'c = Qm motor^2', '1/(N.m)',
        lambda m, e, f: m * m,
        lambda m, e, f: (2.0 * m, 0.0, 0.0),
    ),
    BudgetTerm(
        'quadratic_load_external', 'Qe', 'c = Qe external^2', '1/(N.m)',
        lambda m, e, f: e * e,
        lambda m, e, f: (0.0, 2.0 * e, 0.0),
    ),
)  # fmt: skip
TERMS = {term.name: term for term in _ALL}
# Friction that is no budget: proportional to the speed.
VISCOUS = 'viscous'
# What a selection chooses among, from simple to rich; each is a list of terms.
STRUCTURES: dict[str, tuple[str, ...]] = {
    'coulomb': (VISCOUS, 'coulomb'),
    'stribeck': (VISCOUS, 'coulomb', 'stribeck'),
    'load': (VISCOUS, 'coulomb', 'load'),
    'stribeck_load': (VISCOUS, 'coulomb', 'stribeck', 'load', 'stribeck_load'),
    'directional': (VISCOUS, 'coulomb', 'load_motor', 'load_external'),
    'stribeck_directional': (
        VISCOUS, 'coulomb', 'stribeck', 'load_motor', 'load_external', 'stribeck_load_motor',
        'stribeck_load_external',
    ),
    'quadratic': (
        VISCOUS, 'coulomb', 'stribeck', 'load_motor', 'load_external', 'stribeck_load_motor',
        'stribeck_load_external', 'quadratic_load_motor', 'quadratic_load_external',
    ),
}  # fmt: skip


def parse_structure(text: str, key: str = 'friction') -> tuple[str, ...]:
    """Return the terms of a structure's name or of a comma-separated list."""
    if text in STRUCTURES:
        return STRUCTURES[text]
    names = tuple(name.strip() for name in text.split(',') if name.strip())
    known = [VISCOUS, *TERMS]
    for name in names:
        if name not in known:
            hint = did_you_mean(name, [*STRUCTURES, *known])
            raise OptionError(
                f"{key}: no friction term '{name}' with stick, {hint}", key=key, value=name
            )
        if names.count(name) > 1:
            raise OptionError(f"{key}: '{name}' appears more than once", key=key, value=name)
    return names
