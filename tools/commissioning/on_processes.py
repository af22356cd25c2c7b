"""One row of the table on real processes: a plant, a controller and topics between them."""

from __future__ import annotations

import re

from running.robot_graph import START_S

from commissioning.cell import Cell
from commissioning.rows import HOLD_S, MOVE_S, Row, wiring_of

OK, ERROR = b'\x00', b'\x02'
_LOGGED = re.compile(r'\[(WARN|ERROR)\] \[[^\]]*\] \[[^\]]*\]: (.*)')


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
        # After a gap on a busy machine the robot may still come to rest.
        client.spin_until(lambda: _stopped(cell) or _holds(cell), START_S, 'the robot is held')
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
    return Row.of(
        prepared, seen, mistake, way, named, stopped, values.get('violation', ''),
        values.get('joint', ''),
    )  # fmt: skip


def _stopped(cell: Cell) -> bool:
    status = cell.health.of(f'{cell.node}: control')
    return status is not None and status.level == ERROR


def _holds(cell: Cell) -> bool:
    return cell.health.values(f'{cell.node}: control').get('mode') == 'holding'


def _watch(cell: Cell, seconds: float) -> None:
    """Wait; no longer than until the robot is stopped."""
    for _ in range(round(seconds / 0.1)):
        cell.client.spin_for(0.1)
        if _stopped(cell):
            return
