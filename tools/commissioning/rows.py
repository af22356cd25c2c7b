"""One row of the table: a mistake between a robot and its controller, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants.wiring import MISTAKES, Wiring

from commissioning.robots import Prepared
from commissioning.seen import Seen

Array = NDArray[np.float64]
NONE = 'none'
# Bounds of a commissioning: torque beyond gravity, of its limit; speed, of its limit; motion, of a
# turn or of a slide's range. A motion that begins must stay within the limits of the robot.
TORQUE, SPEED, MOTION = 0.2, 1.0, 5.0 / 360.0
HOLD_S, MOVE_S = 1.0, 6.0


@dataclass(frozen=True)
class Row:
    """
    What came of a mistake.

    :param way: what was done: `hold`, `commission` or `move`.
    :param named: what the controller said of it; '' for nothing.
    :param stopped: whether it refused the robot or stopped it.
    :param violation: what it says was violated, as the diagnostics have it, and at which `joint`.
    :param torque: largest, beyond gravity, over the limit; `speed` likewise; `motion` over a turn
        or over the range of a slide. Each of the worst joint.
    :param inside: whether all positions and torques stayed within the limits.
    """

    robot: str
    mistake: str
    way: str
    named: str
    stopped: bool
    violation: str
    joint: str
    torque: float
    speed: float
    motion: float
    inside: bool
    seen: Seen

    @property
    def within(self) -> bool:
        """Whether the robot stayed within the bounds of what was done."""
        if self.way == 'move':
            return self.inside and self.speed <= SPEED
        return self.inside and (
            self.torque < TORQUE and self.speed < SPEED and self.motion < MOTION
        )

    @staticmethod
    def of(prepared: Prepared, seen: Seen, *said: Any) -> Row:
        """
        Return the row of what a plant saw.

        :param said: mistake, way, named, stopped, violation and joint.
        """
        limits = prepared.robot.limits
        inside = (seen.lowest >= limits.lower) & (seen.highest <= limits.upper)
        whole = seen.whole_torque <= limits.torque * (1.0 + 1e-9)
        return Row(
            prepared.machine.name, *said,
            float(np.max(seen.torque / limits.torque)),
            float(np.max(seen.speed / limits.velocity)),
            float(np.max(turns(prepared, seen.motion))),
            bool(np.all(inside & whole)), seen,
        )  # fmt: skip

    @property
    def text(self) -> str:
        """One line."""
        s = self.seen
        return (
            f'{self.robot:6} {self.mistake:20} {self.way:10} torque {100 * self.torque:6.1f} % '
            f'speed {100 * self.speed:6.1f} % motion {360 * self.motion:7.2f} deg '
            f'{"stopped" if self.stopped else "-":8} {"within" if self.within else "BEYOND"} '
            f'[gap {1e3 * s.gap_s:.0f}, stall {1e3 * s.stall_s:.0f}, wait {1e3 * s.wait_s:.0f} ms]'
            f' {self.named}'
        )


def wiring_of(mistake: str, prepared: Prepared, joint: int | None = None) -> Wiring | None:
    """
    Return the wiring with a mistake, None where the robot cannot have it.

    :param joint: where it is planted, None for that of the machine.
    """
    if mistake == NONE:
        return Wiring()
    robot = prepared.robot
    if mistake == 'swap' and robot.n < 2:
        return None
    if mistake == 'gravity compensated' and not prepared.has_gravity:
        return None
    unit = 1000.0 if slides(prepared).all() else np.degrees(1.0)
    at = prepared.machine.joint if joint is None else joint
    return MISTAKES[mistake](Wiring(), at, robot.n, float(unit))


def slides(prepared: Prepared) -> NDArray[np.bool_]:
    """(n,) which joints are prismatic."""
    k = prepared.robot.kinematics
    found = np.zeros(prepared.robot.n, bool)
    found[k.dof[k.prismatic]] = True
    return found


def turns(prepared: Prepared, motion: Array) -> Array:
    """(n,) motion over a turn, or over the range of a slide."""
    limits = prepared.robot.limits
    width = np.where(np.isfinite(limits.upper - limits.lower), limits.upper - limits.lower, 1.0)
    return motion / np.where(slides(prepared), width, 2.0 * np.pi)


def figures(row: Row) -> dict[str, Any]:
    """Return a row for a file."""
    return {
        'robot': row.robot, 'mistake': row.mistake, 'way': row.way, 'named': row.named,
        'stopped': row.stopped, 'violation': row.violation, 'joint': row.joint,
        'within': row.within, 'inside': row.inside, 'torque': row.torque, 'speed': row.speed,
        'motion': row.motion, 'gap_s': row.seen.gap_s, 'stall_s': row.seen.stall_s,
        'wait_s': row.seen.wait_s,
    }  # fmt: skip
