"""
Runs the soak and writes its report.

    python tools/isolated.py python -m tools.soak --minutes 60 --seed 1

Rules that hold all the time: torques (watch.py); the memory of each process stays within 5 % of
what it was after its first minute and a half; no process ends by itself or prints a traceback;
every recording opens and lacks nothing but its last second; after each fault the robot is under
control again within a minute.

As root the recordings lie on a small disk of their own, which is filled as one of the faults.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tools.soak import ROOT
from tools.soak.faults import Broken, Faults
from tools.soak.graph import Graph
from tools.soak.recordings import Recording
from tools.soak.watch import Watch

from lifecycle_msgs.msg import Transition  # isort: skip
from running.client import Client  # isort: skip
from std_srvs.srv import Trigger  # isort: skip
from running.robot_graph import Health  # isort: skip
from running.simulated_bag import simulated_bag  # isort: skip

from robot_id.robot import load_robot
from robot_id.ros.discovery import announce_often
from robot_id.share import share_directory
from robot_id_msgs.srv import ResetSimulation

RATE_HZ = 100.0
WATCHDOG_S = 0.1
# Between two faults [s].
PAUSE_S = (2.0, 8.0)
RECOVERY_S = 60.0
# A person asks again when a service has not answered for so long.
ANSWER_S = 15.0
DISK_MB = 256


class Soak:
    """The graph, its faults, its rules and the report."""

    def __init__(
        self, client: Client, watch: Watch, folder: Path, given: argparse.Namespace, small: bool
    ) -> None:
        self.client, self.watch, self.given = client, watch, given
        self.begun = time.monotonic()
        self.robot = load_robot(soft_robot(folder))
        self.lines: list[str] = []
        self.broken: list[str] = []
        self.counts: dict[str, int] = {}
        self.draw = random.Random(given.seed)
        common = {
            'robot': str(folder / 'emps.yaml'),
            'rate_hz': RATE_HZ,
            'autostart': True,
            'start_motion': True,
        }
        place = {'data_directory': str(folder)}
        own = {'noise': False, 'command_timeout_s': WATCHDOG_S}
        self.graph = Graph({
            'ddm_simulator': {**common, **own},
            'ctc_controller': {**common, **place, 'learning': True, 'largest_error': 0.2},
            'trajectory_generator': {**common, 'cycles': 0},
            'data_logger': {**place, 'minimum_free_mb': 0.0},
            'identification_server': {'robot': 'emps', 'plots': False, **place},
            'online_identifier': {'robot': 'emps'},
        })  # fmt: skip
        names = self.robot.joint_names
        self.faults = Faults(self.graph, client, self.draw, folder, names, small)
        self.health = Health(client)

    def run(self, seconds: float) -> None:
        """Start everything, and draw faults until the time is over."""
        for name in self.graph.settings:
            self.graph.start(name)
        self.faults.identify()
        self.say(f'all nodes run; {self.recovered()}')
        self.begun = time.monotonic()
        while (gone := time.monotonic() - self.begun) < seconds:
            # In the last third nothing is killed, so that memory is watched for long.
            kinds = [k for k in self.faults.all if k != 'kill -9' or gone < 2.0 * seconds / 3.0]
            self.hit(self.draw.choice(kinds))
            self.client.spin_for(self.draw.uniform(*PAUSE_S))
            self.check()
            self.write()
        self.faults.stop_recording()
        time.sleep(1.5)
        self.check()
        for line in self.graph.stop():
            self.break_rule(line)

    def hit(self, kind: str) -> None:
        """Let one fault happen, and say what followed."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        try:
            followed = self.faults.all[kind]()
        except (Broken, AssertionError, OSError) as error:
            followed = f'{str(error)[:300]}'
            self.break_rule(f'{kind}: {followed}')
        recovered = self.recovered()
        news = self.graph.news()
        for line in news:
            if 'TRACEBACK' in line:
                self.break_rule(line)
        said = f' [{"; ".join(news[:4])}]' if news else ''
        self.say(f'{kind}: {followed}; {recovered}{said}')

    def recovered(self) -> str:
        """Wait until the robot is under control again; a robot that was stopped is released."""
        begun, helped = time.monotonic(), ''
        while (gone := time.monotonic() - begun) < RECOVERY_S:
            states, commands = self.watch.rates()
            stopped = self.health.values('ctc_controller: control').get('mode') == 'stopped'
            player = self.health.of('trajectory_generator: reference')
            idle = player is not None and player.message == 'idle'
            if (stopped or idle) and not helped:
                helped = self.help()
            if min(states, commands) > 0.5 * RATE_HZ:
                return f'under control after {gone:.1f} s{helped}'
            if gone > 10.0 and not helped:
                helped = self.help()
            self.client.spin_for(0.2)
        states, commands = self.watch.rates()
        line = f'not under control: {states:.0f} states, {commands:.0f} commands a second'
        self.break_rule(line + helped)
        return line

    def help(self) -> str:
        """Do what a person would: put the robot back, and start controller and motion again."""
        try:
            self.client.call(ResetSimulation, 'ddm_simulator/reset', None, ANSWER_S)
            for step in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE):
                self.client.change_state('ctc_controller', step, ANSWER_S)
            self.client.call(Trigger, 'trajectory_generator/start', None, ANSWER_S)
        except AssertionError as error:
            # For some seconds DDS takes a killed server for alive: a request to it is lost.
            self.say(f'asked again: {error}')
            return ''
        self.health.messages.clear()
        return ' with help'

    def check(self) -> None:
        """Hold all rules against what happened since the last time."""
        for line in (*self.watch.check(), *self.graph.measure(), *self.graph.dead()):
            self.break_rule(line)
        for name in [n for n, node in self.graph.nodes.items() if node.process.poll() is not None]:
            self.graph.forget(name)
            self.graph.start(name)
        ended = [each for each in self.faults.recordings if each.ended]
        if ended and ended[0].ended < time.time_ns() - 2_000_000_000:
            self.faults.recordings.remove(ended[0])
            self.open(ended[0])

    def open(self, recording: Recording) -> None:
        """Look at a recording, and make room for the next."""
        says, rule = recording.check(self.robot, self.watch.published())
        if rule:
            self.break_rule(rule)
        else:
            self.say(f'{recording.path.name} ({recording.how}): {says}')
            recording.remove()

    def say(self, line: str) -> None:
        """Put a line into the report."""
        self.lines.append(f'{time.strftime("%H:%M:%S")} {line}')
        print(self.lines[-1], flush=True)

    def write(self) -> list[str]:
        """Write the report as far as it goes, and return its end."""
        minutes = (time.monotonic() - self.begun) / 60.0
        end = [f'soak: seed {self.given.seed}', *self.summary(minutes)]
        self.given.report.write_text('\n'.join([*self.lines, '', *end]) + '\n')
        return end

    def break_rule(self, line: str) -> None:
        """Put a broken rule into the report."""
        self.broken.append(line)
        self.say(f'BROKEN {line}')

    def summary(self, minutes: float) -> list[str]:
        """Return the end of the report."""
        faults = ', '.join(f'{count} {name}' for name, count in sorted(self.counts.items()))
        lines = [f'{minutes:.0f} minutes, {sum(self.counts.values())} faults: {faults}']
        limit, longest = self.robot.limits.torque[0], 1e3 * self.watch.longest_s
        lines.append(f'largest torque {self.watch.highest:.4g} of {limit:g}')
        lines.append(f'a torque acted at most {longest:.0f} ms without a sign of the controller')
        for each in (*self.graph.grown, *self.graph.memory.values()):
            if each.settled_kb and time.monotonic() - each.since > 300.0:
                lines.append(
                    f'memory of {each.name}: {each.settled_kb} kB settled, {each.most_kb} kB at '
                    f'most, {each.now_kb} kB last'
                )
        return [*lines, f'{len(self.broken)} rules broken', *self.broken]


def soft_robot(folder: Path) -> Path:
    """Write the EMPS with a controller that is slow enough for the rate of the soak."""
    share = share_directory()
    text = (share / 'config/robots/emps.yaml').read_text()
    text = text.replace('../../urdf', str(share / 'urdf')).replace('[40*pi]', '[15]')
    path = folder / 'emps.yaml'
    path.write_text(text)
    return path


@contextlib.contextmanager
def small_disk() -> Iterator[tuple[Path, bool]]:
    """Yield a folder for recordings, and whether it is a small disk of its own."""
    with tempfile.TemporaryDirectory(prefix='soak_') as folder:
        words = ['mount', '-t', 'tmpfs', '-o', f'size={DISK_MB}m', 'tmpfs', folder]
        small = subprocess.run(words, capture_output=True).returncode == 0
        try:
            yield Path(folder), small
        finally:
            if small:
                subprocess.run(['umount', '-l', folder], check=False)


def main() -> None:
    """Parse, run, write the report."""
    parser = argparse.ArgumentParser(prog='soak', description=__doc__)
    parser.add_argument('--minutes', type=float, default=60.0)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--report', type=Path, default=ROOT / 'log/soak.txt')
    given = parser.parse_args()
    # As Ctrl-C does: nodes and disk are put away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    announce_often()
    limit = float(load_robot('emps').limits.torque[0])
    given.report.parent.mkdir(parents=True, exist_ok=True)
    with (
        small_disk() as (folder, small),
        Watch(limit, WATCHDOG_S, RATE_HZ) as watch,
        Client('soak') as client,
    ):
        simulated_bag(folder / 'known')
        soak = Soak(client, watch, folder, given, small)
        if not small:
            soak.say('no root: the disk is not filled')
        try:
            soak.run(60.0 * given.minutes)
        finally:
            soak.graph.close()
            end = soak.write()
    print('\n'.join(end), f'report: {given.report}', sep='\n')
    sys.exit(1 if soak.broken else 0)


if __name__ == '__main__':
    main()
