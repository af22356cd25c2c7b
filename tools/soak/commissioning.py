"""
A soak of the controller on free-running plants: faults of commissioning, drawn at random.

    python tools/isolated.py python -m tools.soak.commissioning --minutes 60 --seed 1

A robot, a fault, a joint and a size are drawn, and whether the robot starts with the fault or gets
it while it moves; models, good and bad, are handed over in between. Rules: no torque, speed or
position beyond the limits of the robot, at no time; a start with a fault moves no joint by more
than 5 degrees nor takes a fifth of the torque limit beyond gravity; no process ends by itself.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from tools.soak import ROOT

from commissioning.cell import Cell  # isort: skip
from commissioning.hand_over import HUGE, SCALES, HandOver  # isort: skip
from commissioning.robots import MACHINES, prepare  # isort: skip
from commissioning.rows import MOTION, SPEED, TORQUE, turns  # isort: skip
from commissioning.seen import Seen  # isort: skip
from plants.wiring import Wiring  # isort: skip
from running.client import Client  # isort: skip

from robot_id.ros.discovery import announce_often

PATIENCE_S = 0.3
# Faults on one robot before the next one is drawn, and seconds that a fault lasts.
ROUND, LASTS_S = 8, (1.0, 4.0)


class Soak:
    """
    The draws, the rules and the report.

    :ivar broken: rules that were broken.
    """

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.draw = given, random.Random(given.seed)
        self.lines: list[str] = []
        self.broken: list[str] = []
        self.counts: dict[str, int] = {}
        self.worst: dict[str, np.ndarray] = {}

    def run(self, seconds: float) -> None:
        """Draw robots until the time is over."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            name = self.draw.choice(list(MACHINES))
            with tempfile.TemporaryDirectory() as place:
                prepared = prepare(name, Path(place), PATIENCE_S)
                with (
                    Client(namespace=name) as client,
                    Cell(client, prepared, Path(place), name) as cell,
                    cell.generator(),
                    cell.controlled(),
                ):
                    for _ in range(ROUND):
                        if time.monotonic() < until:
                            self.hit(cell)
                            self.write()

    def hit(self, cell: Cell) -> None:
        """Let one fault happen, and hold the rules."""
        kind = self.draw.choice(('start', 'start', 'moving', 'model'))
        fault, wiring = self.wiring(cell)
        client = cell.client
        cell.health.messages.clear()
        cell.wire(wiring if kind == 'start' else Wiring())
        accepted = cell.activate()
        if accepted:
            client.spin_for(1.0)
            cell.move()
            client.spin_for(self.draw.uniform(*LASTS_S))
            if kind == 'moving':
                cell.rewire(wiring)
                client.spin_for(self.draw.uniform(*LASTS_S))
            elif kind == 'model':
                fault = self.model(cell)
                client.spin_for(self.draw.uniform(*LASTS_S))
            cell.rest()
        seen = cell.seen()
        status = cell.health.of(f'{cell.node}: control')
        said = status.message if status is not None else ''
        cell.deactivate()
        self.judge(cell, f'{kind}: {fault}', seen, said, kind == 'start')
        for process in (cell.plant, cell.controller):
            if process.process.poll() is not None:
                self.break_rule(f'{process.name} ended by itself: {process.log[-300:]}')
        if 'Traceback' in cell.controller.log:
            self.break_rule(f'traceback: {cell.controller.log[-800:]}')

    def judge(self, cell: Cell, fault: str, seen: Seen, said: str, started: bool) -> None:
        """Hold what the plant saw against the rules."""
        prepared = cell.prepared
        limits, name = prepared.robot.limits, prepared.machine.name
        parts = np.array([
            np.max(seen.whole_torque / limits.torque),
            np.max(seen.speed / limits.velocity),
            np.max(turns(prepared, seen.motion)) / MOTION,
        ])  # fmt: skip
        beyond = float(np.max(seen.torque / limits.torque))
        self.counts[fault.split(' ')[0]] = self.counts.get(fault.split(' ')[0], 0) + 1
        self.worst[name] = np.maximum(self.worst.get(name, np.zeros(3)), parts)
        self.say(
            f'{name} {fault}: torque {100 * parts[0]:.0f} % ({100 * beyond:.0f} % beyond gravity),'
            f' speed {100 * parts[1]:.0f} %, motion {5 * parts[2]:.1f} deg; {said} '
            f'[gap {1e3 * seen.gap_s:.0f}, stall {1e3 * seen.stall_s:.0f} ms]'
        )
        outside = (seen.lowest < limits.lower) | (seen.highest > limits.upper)
        rules = {
            'torque beyond its limit': parts[0] > 1.0 + 1e-9,
            'speed beyond its limit': parts[1] > SPEED,
            'position beyond its limits': bool(np.any(outside)),
            'a start with too much torque': started and self.wrong and beyond > TORQUE,
            'a start with too much motion': started and self.wrong and parts[2] > 1.0,
        }
        for rule, broken in rules.items():
            if broken:
                self.break_rule(f'{name} {fault}: {rule}')

    def wiring(self, cell: Cell) -> tuple[str, Wiring]:
        """Draw a fault of the wiring; `wrong` says whether it must be found at a start."""
        draw, n = self.draw, cell.prepared.robot.n
        j = draw.randrange(n)
        at = lambda value, other: tuple(value if i == j else other for i in range(n))  # noqa: E731
        sizes = {
            'sign': 0.0, 'scale': draw.choice((0.2, 3.0, 5.0)),
            'gear': draw.choice((0.1, 0.5, 2.0, 10.0)), 'unit': draw.choice((57.3, 1000.0)),
            'rate': draw.choice((0.1, 0.2, 4.0)), 'jitter': draw.uniform(0.0, 1e-3),
            'delay': draw.uniform(0.015, 0.04), 'none': 0.0,
        }  # fmt: skip
        fault = draw.choice(list(sizes))
        size = sizes[fault]
        self.wrong = fault not in ('none', 'jitter')
        right = Wiring(velocity=draw.random() < 0.5)
        changes = {
            'sign': {'position_factor': at(-1.0, 1.0)},
            'scale': {'torque_factor': at(size, 1.0)},
            'gear': {'position_factor': at(size, 1.0)},
            'unit': {'position_factor': (size,) * n},
            'rate': {'rate_factor': size},
            'jitter': {'jitter_s': size},
            'delay': {'delay_s': size},
            'none': {},
        }[fault]
        joint = cell.prepared.robot.joint_names[j]
        return f'{fault} {size:.3g} ({joint})', replace(right, **changes)

    def model(self, cell: Cell) -> str:
        """Hand over a model, good or bad, while the robot moves."""
        work, draw = HandOver(cell), self.draw
        kind = draw.choice(('good', 'scaled', 'single'))
        if kind == 'good':
            chi = work.model(draw.uniform(0.95, 1.05), draw.uniform(0.9, 1.1))
        elif kind == 'scaled':
            chi = draw.choice(SCALES) * work.truth
        else:
            chi = work.truth.copy()
            chi[draw.randrange(len(chi))] *= draw.choice((HUGE, -HUGE))
        code, took = work.ask(chi)
        work.close()
        return f'model {kind}: code {code} in {1e3 * took:.0f} ms'

    def say(self, line: str) -> None:
        """Put a line into the report."""
        self.lines.append(f'{time.strftime("%H:%M:%S")} {line}')
        print(self.lines[-1], flush=True)

    def break_rule(self, line: str) -> None:
        """Put a broken rule into the report."""
        self.broken.append(line)
        self.say(f'BROKEN {line}')

    def write(self) -> list[str]:
        """Write the report as far as it goes, and return its end."""
        faults = ', '.join(f'{count} {name}' for name, count in sorted(self.counts.items()))
        end = [f'seed {self.given.seed}: {sum(self.counts.values())} faults: {faults}']
        for name, worst in self.worst.items():
            end.append(
                f'{name}: torque {100 * worst[0]:.0f} %, speed {100 * worst[1]:.0f} % of the '
                'limits at most'
            )
        end += [f'{len(self.broken)} rules broken', *self.broken]
        self.given.report.write_text('\n'.join([*self.lines, '', *end]) + '\n')
        return end


def main() -> None:
    """Parse, run, write the report."""
    parser = argparse.ArgumentParser(prog='soak', description=__doc__)
    parser.add_argument('--minutes', type=float, default=60.0)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--report', type=Path, default=ROOT / 'log/soak_commissioning.txt')
    given = parser.parse_args()
    announce_often()
    given.report.parent.mkdir(parents=True, exist_ok=True)
    soak = Soak(given)
    soak.run(60.0 * given.minutes)
    print('\n'.join(soak.write()), f'report: {given.report}', sep='\n')
    sys.exit(1 if soak.broken else 0)


if __name__ == '__main__':
    main()
