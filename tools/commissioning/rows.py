"""One row of the table: a mistake between a robot and its controller, and what came of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants.wiring import MISTAKES, Wiring

from commissioning.cell import Cell, Seen
from commissioning.robots import Prepared

Array = NDArray[np.float64]
NONE = 'none'
# Bounds: beyond gravity, of the torque limit; of the speed limit; of a turn, or a slide's range.
TORQUE, SPEED, MOTION = 0.2, 1.0, 5.0 / 360.0
HOLD_S, MOVE_S = 1.0, 6.0
OK, ERROR = b'\x00', b'\x02'
_LOGGED = re.compile(r'\[(WARN|ERROR)\] \[[^\]]*\] \[[^\]]*\]: (.*)')


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
    seen: Seen

    @property
    def within(self) -> bool:
        """Whether the robot stayed within the bounds."""
        return self.torque < TORQUE and self.speed < SPEED and self.motion < MOTION

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


def wiring_of(mistake: str, prepared: Prepared) -> Wiring | None:
    """Return the wiring with a mistake, None where the robot cannot have it."""
    if mistake == NONE:
        return Wiring()
    robot = prepared.robot
    if mistake == 'swap' and robot.n < 2:
        return None
    if mistake == 'gravity compensated' and not prepared.has_gravity:
        return None
    unit = 1000.0 if slides(prepared).all() else np.degrees(1.0)
    return MISTAKES[mistake](Wiring(), prepared.machine.joint, robot.n, float(unit))


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


def measure(cell: Cell, mistake: str, way: str) -> Row:
    """
    Make a mistake, activate the controller of a cell, and do something with the robot.

    The controller is inactive before and after.
    """
    prepared, client = cell.prepared, cell.client
    wiring = wiring_of(mistake, prepared)
    assert wiring is not None, f'{prepared.machine.name} cannot have the mistake {mistake}'
    cell.wire(wiring)
    begun = len(cell.controller.log)
    cell.health.messages.clear()
    named, stopped, values = '', False, dict[str, str]()
    if not cell.activate():
        stopped = True
        client.spin_for(0.2)
    else:
        _watch(cell, HOLD_S)
        if way == 'commission' and not _stopped(cell):
            named, stopped = cell.commission()
            # The diagnostics come after the answer.
            client.spin_for(1.2)
        elif way == 'move' and not _stopped(cell):
            # Its reference ends with it: one that is held would meet the next start.
            with cell.generator(starts=True):
                _watch(cell, MOVE_S)
        status = cell.health.of(f'{cell.node}: control')
        stopped = stopped or _stopped(cell)
        values = cell.health.values(f'{cell.node}: control')
        if not named and status is not None and status.level != OK:
            named = status.message
    if not named:
        logged = _LOGGED.findall(cell.controller.log[begun:])
        named = next((text for _, text in reversed(logged)), '')
    client.spin_for(0.3)
    seen = cell.seen()
    cell.deactivate()
    limits = prepared.robot.limits
    return Row(
        prepared.machine.name, mistake, way, named, stopped,
        values.get('violation', ''), values.get('joint', ''),
        float(np.max(seen.torque / limits.torque)), float(np.max(seen.speed / limits.velocity)),
        float(np.max(turns(prepared, seen.motion))), seen,
    )  # fmt: skip


def _stopped(cell: Cell) -> bool:
    status = cell.health.of(f'{cell.node}: control')
    return status is not None and status.level == ERROR


def _watch(cell: Cell, seconds: float) -> None:
    """Wait; no longer than until the robot is stopped."""
    for _ in range(round(seconds / 0.1)):
        cell.client.spin_for(0.1)
        if _stopped(cell):
            return


def figures(row: Row) -> dict[str, Any]:
    """Return a row for a file."""
    return {
        'robot': row.robot, 'mistake': row.mistake, 'way': row.way, 'named': row.named,
        'stopped': row.stopped, 'violation': row.violation, 'joint': row.joint,
        'within': row.within, 'torque': row.torque, 'speed': row.speed,
        'motion': row.motion, 'gap_s': row.seen.gap_s, 'stall_s': row.seen.stall_s,
        'wait_s': row.seen.wait_s,
    }  # fmt: skip
