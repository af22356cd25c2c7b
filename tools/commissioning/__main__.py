"""Runs the table of commissioning and the hand-overs, and writes them into a page."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.commissioning import ROOT

from commissioning import table  # isort: skip
from commissioning.cell import Cell  # isort: skip
from commissioning.hand_over import HandOver, Phase  # isort: skip
from commissioning.robots import MACHINES, prepare  # isort: skip
from commissioning import in_process  # isort: skip
from commissioning.on_processes import measure  # isort: skip
from commissioning.rows import NONE, Row, figures, wiring_of  # isort: skip
from plants.wiring import MISTAKES, Wiring  # isort: skip
from running.client import Client  # isort: skip

from robot_id.ros.discovery import announce_often

WRONG = 'wrong robot file'
PATIENCE_S = 0.3


def rows(robot: str, mistakes: list[str], ways: list[str]) -> Iterator[Row]:
    """Measure the rows of a robot."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepared = prepare(robot, folder, PATIENCE_S)
        possible = [m for m in mistakes if wiring_of(m, prepared) is not None]
        with (
            Client(namespace=robot) as client,
            Cell(client, prepared, folder, robot) as cell,
        ):
            for wrong in (False, True):
                chosen = [m for m in possible if (m == WRONG) is wrong]
                if not chosen:
                    continue
                with cell.controlled(wrong):
                    for mistake in chosen:
                        for way in ways:
                            yield measure(cell, mistake, way)


def rows_in_process(robot: str, mistakes: list[str], ways: list[str]) -> Iterator[Row]:
    """Measure the rows of a robot in this process, without a clock."""
    with tempfile.TemporaryDirectory() as place:
        prepared = prepare(robot, Path(place))
        for mistake in mistakes:
            if wiring_of(mistake, prepared) is not None:
                for way in ways:
                    yield in_process.measure(prepared, mistake, way)


def hand_overs(robot: str, count: int) -> Iterator[Phase]:
    """Measure the hand-overs of a robot that moves."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepared = prepare(robot, folder)
        with (
            Client(namespace=robot) as client,
            Cell(client, prepared, folder, robot) as cell,
            cell.generator(),
            cell.controlled(),
        ):
            cell.wire(Wiring())
            assert cell.activate(), cell.controller.log
            client.spin_for(2.0)
            cell.move()
            client.spin_for(8.0)
            work = HandOver(cell)
            yield work.baseline(10.0)
            yield work.good(count, 0.4)
            yield work.scaled()
            yield work.single()
            yield work.burst(500)


def main() -> None:
    """Parse, measure, write."""
    parser = argparse.ArgumentParser(prog='commissioning', description=__doc__)
    names = ','.join((NONE, *MISTAKES))
    parser.add_argument('--robots', default=','.join(MACHINES))
    parser.add_argument('--mistakes', default=names)
    parser.add_argument('--ways', default='commission,move')
    parser.add_argument('--processes', action='store_true', help='with topics, in real time')
    parser.add_argument('--hand-over', default='', help='robots that models are handed to')
    parser.add_argument('--count', type=int, default=50, help='good models')
    parser.add_argument('--page', type=Path, help='page whose tables are written')
    parser.add_argument('--json', type=Path, default=ROOT / 'log/commissioning.json')
    given = parser.parse_args()
    announce_often()
    given.json.parent.mkdir(parents=True, exist_ok=True)
    found: list[Row] = []
    for robot in filter(None, given.robots.split(',')):
        measured = rows if given.processes else rows_in_process
        for row in measured(robot, given.mistakes.split(','), given.ways.split(',')):
            print(row.text, flush=True)
            found.append(row)
            given.json.write_text(json.dumps([figures(each) for each in found], indent=1))
    order = list(MISTAKES)
    found.sort(key=lambda row: order.index(row.mistake) if row.mistake in order else -1)
    phases = []
    for robot in filter(None, given.hand_over.split(',')):
        for phase in hand_overs(robot, given.count):
            print(robot, phase.text, flush=True)
            phases.append((robot, phase))
    if given.page and found:
        table.write(given.page, table.COMMISSIONING, table.commissioning_table(found))
    if given.page and phases:
        table.write(given.page, table.HAND_OVER, table.hand_over_table(phases))


if __name__ == '__main__':
    main()
