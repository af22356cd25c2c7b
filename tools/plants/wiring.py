"""How a robot is wired to ROS: right, or with one of the mistakes of commissioning."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True)
class Wiring:
    """
    What stands between a plant and the topics; the defaults are right.

    :param position_factor: (n,) published over true position (and velocity); empty: 1.
    :param position_offset: (n,) added to the published position [rad or m]; empty: 0.
    :param order: (n,) whose values are published under the name of joint i; empty: its own.
    :param torque_factor: (n,) torque that acts over the commanded one; empty: 1.
    :param compensates_gravity: the robot adds its own gravity torque to the command.
    :param rate_factor: rate of the joint states over the one that was agreed.
    :param jitter_s: the stamps are wrong by up to this much.
    :param delay_s: time from the arrival of a command to its torque.
    :param velocity: whether joint states have a velocity.
    """

    position_factor: tuple[float, ...] = ()
    position_offset: tuple[float, ...] = ()
    order: tuple[int, ...] = ()
    torque_factor: tuple[float, ...] = ()
    compensates_gravity: bool = False
    rate_factor: float = 1.0
    jitter_s: float = 0.0
    delay_s: float = 0.0
    velocity: bool = True

    def to_json(self) -> str:
        """Return it as text, for a topic."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Wiring:
        """Return what a text holds."""
        return Wiring(**json.loads(text))


def _at(j: int, n: int, value: float, other: float = 1.0) -> tuple[float, ...]:
    return tuple(value if i == j else other for i in range(n))


def _swapped(j: int, k: int, n: int) -> tuple[int, ...]:
    order = list(range(n))
    order[j], order[k] = k, j
    return tuple(order)


# Mistake: what it makes of a right wiring of n joints, planted in joint j; `unit` is the factor of
# a wrong unit (degrees, millimetres). A wrong robot file is no matter of wiring.
MISTAKES: dict[str, Callable[[Wiring, int, int, float], Wiring]] = {
    'sign': lambda w, j, n, unit: replace(w, position_factor=_at(j, n, -1.0)),
    'swap': lambda w, j, n, unit: replace(w, order=_swapped(j, (j + 1) % n, n)),
    'scale': lambda w, j, n, unit: replace(w, torque_factor=_at(j, n, 3.0)),
    'offset': lambda w, j, n, unit: replace(w, position_offset=_at(j, n, 0.5, 0.0)),
    'gear': lambda w, j, n, unit: replace(w, position_factor=_at(j, n, 2.0)),
    'unit': lambda w, j, n, unit: replace(w, position_factor=(unit,) * n),
    'gravity compensated': lambda w, j, n, unit: replace(w, compensates_gravity=True),
    'rate too low': lambda w, j, n, unit: replace(w, rate_factor=0.1),
    'rate too high': lambda w, j, n, unit: replace(w, rate_factor=4.0),
    'jitter': lambda w, j, n, unit: replace(w, jitter_s=1e-3, velocity=False),
    'delay': lambda w, j, n, unit: replace(w, delay_s=0.02),
    'wrong robot file': lambda w, j, n, unit: w,
}
