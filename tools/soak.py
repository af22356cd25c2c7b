"""
`make soak MINUTES=60`: the whole graph with faults drawn at random, and rules that always hold.

Simulator, generator, controller, logger, identification server and on-line identifier run as
processes in real time on the EMPS at 500 Hz. Every few seconds a fault is drawn: kill -9 and
restart of a node, states that are not finite, stamps that jump, values that a parameter refuses,
200 service calls at once, a new recording. The report names each fault and what followed.

The rules: no torque beyond the limits; none for longer than the simulator's watchdog and two
periods after the controller was killed; the memory of each process within 5 % (and 8 MB) of what
it was after its first minute; every recording opens, and loses no more than its last second.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from rcl_interfaces.msg import Parameter, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from ros_helpers.client import Client  # noqa: E402
from ros_helpers.node_process import NodeProcess  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from robot_id import data  # noqa: E402
from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.model import load_robot  # noqa: E402
from robot_id_msgs.srv import ListMethods, StartRecording, StopRecording  # noqa: E402

RATE_HZ = 500.0
WATCHDOG_S = 0.1
START_S = 120.0
# Between two faults [s].
PAUSE_S = (4.0, 12.0)
# What a process may grow by after its first minute.
GROWTH, SLACK_KB = 1.05, 8192


@dataclass
class Node:
    """One process, and what it took of memory when it had settled."""

    process: NodeProcess
    started: float = field(default_factory=time.monotonic)
    settled_kb: int = 0

    def memory_kb(self) -> int:
        """Return the resident memory now, 0 when it is gone."""
        try:
            text = Path(f'/proc/{self.process.process.pid}/status').read_text()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in text.splitlines() if 'VmRSS' in line), 0)


class Soak:
    """The graph, its faults and its rules."""

    def __init__(self, client: Client, folder: Path, seed: int) -> None:
        self.client, self.folder = client, folder
        self.draw = random.Random(seed)
        self.robot = load_robot('emps')
        self.lines: list[str] = []
        self.broken: list[str] = []
        self.counts: dict[str, int] = {}
        self.recording = ''
        self.killed_at = 0.0
        self.states: list[tuple[float, JointState]] = []
        common = {'robot': 'emps', 'rate_hz': RATE_HZ}
        place = {'data_directory': str(folder)}
        self.settings: dict[str, dict[str, Any]] = {
            'ddm_simulator': {
                **common,
                'autostart': True,
                'noise': False,
                'command_timeout_s': WATCHDOG_S,
            },
            'ctc_controller': {**common, **place, 'autostart': True},
            'trajectory_generator': {**common, 'autostart': True, 'cycles': 0},
            'data_logger': place,
            'identification_server': {'robot': 'emps', **place},
            'online_identifier': {'robot': 'emps'},
        }
        self.nodes: dict[str, Node] = {}
        self.faults: dict[str, Callable[[], str]] = {
            'kill': self.kill, 'not finite': self.not_finite, 'stamp': self.stamp,
            'parameter': self.parameter, 'calls': self.calls, 'recording': self.record,
        }  # fmt: skip

    def run(self, seconds: float) -> None:
        """Start everything, and draw faults until the time is over."""
        self.client.node.create_subscription(JointState, 'joint_states', self._heard, 100)
        self.publisher = self.client.node.create_publisher(JointState, 'joint_states', 10)
        for name in self.settings:
            self.start(name)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.client.spin_for(self.draw.uniform(*PAUSE_S))
            self.check()
            fault = self.draw.choice(list(self.faults))
            self.counts[fault] = self.counts.get(fault, 0) + 1
            try:
                followed = self.faults[fault]()
            except AssertionError as error:
                followed = f'no answer ({error})'
                self.break_rule(f'{fault}: {followed}')
            self.say(f'{fault}: {followed}')
        self.stop_recording()
        for node in self.nodes.values():
            node.process.stop()
        self.open_bags()

    def start(self, name: str) -> None:
        """Start a node and wait until it is ready."""
        process = NodeProcess(name, parameters=self.settings[name])
        process.__enter__()
        process.wait_for_log('ready', START_S)
        self.nodes[name] = Node(process)

    def kill(self) -> str:
        """Kill a node without warning and start it again."""
        name = self.draw.choice(list(self.nodes))
        self.nodes[name].process.process.kill()
        self.nodes[name].process.process.wait()
        if name == 'ctc_controller':
            self.killed_at = time.monotonic()
            self.client.spin_for(1.0)
            self.check()
            self.killed_at = 0.0
        if name == 'data_logger':
            self.recording = ''
        self.start(name)
        return f'{name} killed, ready again'

    def not_finite(self) -> str:
        """Publish a state with no numbers in it."""
        for value in (float('nan'), float('inf'), 1e308):
            self.publisher.publish(self._state(value, self.client.node.get_clock().now()))
        return 'three states published'

    def stamp(self) -> str:
        """Publish states from long ago and from the far future."""
        for seconds in (0, 2**31 - 1):
            message = self._state(0.0, None)
            message.header.stamp.sec = seconds
            self.publisher.publish(message)
        return 'stamps of 1970 and 2038 published'

    def parameter(self) -> str:
        """Ask a node for a value that it must refuse."""
        name = self.draw.choice(list(self.nodes))
        value = ParameterValue(type=3, double_value=float('nan'))
        request = SetParameters.Request(parameters=[Parameter(name='rate_hz', value=value)])
        answer = self.client.call(SetParameters, f'{name}/set_parameters', request, START_S)
        if any(result.successful for result in answer.results):
            self.break_rule(f'{name} took rate_hz = nan')
        return f'{name} refused rate_hz = nan'

    def calls(self) -> str:
        """Call one service 200 times at once."""
        caller = self.client.node.create_client(ListMethods, 'identification_server/list_methods')
        caller.wait_for_service(START_S)
        answers = [caller.call_async(ListMethods.Request()) for _ in range(200)]
        self.client.spin_until(lambda: all(a.done() for a in answers), START_S, '200 answers')
        self.client.node.destroy_client(caller)
        return '200 calls answered'

    def record(self) -> str:
        """End the recording that runs and begin another one."""
        self.stop_recording()
        request = StartRecording.Request(name=f'soak_{time.time_ns()}')
        answer = self.client.call(StartRecording, 'data_logger/start', request, START_S)
        self.recording = answer.bag
        return f'recording {answer.bag}'

    def stop_recording(self) -> None:
        """End the recording, if there is one."""
        if self.recording:
            self.client.call(StopRecording, 'data_logger/stop', StopRecording.Request(), START_S)
            self.recording = ''

    def check(self) -> None:
        """Hold the rules against what was heard since the last time."""
        states, self.states = self.states, []
        limit = float(self.robot.limits.torque[0]) * (1.0 + 1e-9)
        torques = [(heard, abs(state.effort[0])) for heard, state in states if state.effort]
        beyond = [torque for _, torque in torques if not torque <= limit]
        if beyond:
            self.break_rule(f'{len(beyond)} torques up to {max(beyond):.5g}, beyond {limit:.5g}')
        # Messages may wait a little in the queues of this process.
        quiet = self.killed_at + WATCHDOG_S + 2.0 / RATE_HZ + 0.2
        late = [torque for heard, torque in torques if self.killed_at and heard > quiet and torque]
        if late:
            self.break_rule(f'{len(late)} torques up to {max(late):.5g} without a controller')
        for name, node in self.nodes.items():
            now = node.memory_kb()
            if not node.settled_kb and time.monotonic() - node.started > 60.0:
                node.settled_kb = now
            elif node.settled_kb and now > GROWTH * node.settled_kb + SLACK_KB:
                self.break_rule(f'{name} grew from {node.settled_kb} to {now} kB')
                node.settled_kb = now

    def open_bags(self) -> None:
        """Every recording must open."""
        for bag in sorted(self.folder.glob('soak_*')):
            try:
                found = data.load(bag, joint_names=self.robot.joint_names)
                self.say(f'{bag.name}: {len(found)} samples; {"; ".join(found.notes[:2])}')
            except RobotIdError as error:
                # A recording without a single state is no loss: the robot was away.
                if 'no messages' not in str(error) and 'no message' not in str(error):
                    self.break_rule(f'{bag.name} does not open: {error}')

    def say(self, line: str) -> None:
        """Put a line into the report."""
        self.lines.append(f'{time.strftime("%H:%M:%S")} {line}')
        print(self.lines[-1], flush=True)

    def break_rule(self, line: str) -> None:
        """Put a broken rule into the report."""
        self.broken.append(line)
        self.say(f'BROKEN {line}')

    def _heard(self, message: JointState) -> None:
        # What this process published itself is no state of the robot.
        if message.header.frame_id != 'soak':
            self.states.append((time.monotonic(), message))

    def _state(self, value: float, now: Any) -> JointState:
        message = JointState(name=list(self.robot.joint_names))
        message.header.frame_id = 'soak'
        if now is not None:
            message.header.stamp = now.to_msg()
        message.position = message.velocity = message.effort = [value]
        return message


def main() -> None:
    """Parse, run, write the report."""
    parser = argparse.ArgumentParser(prog='soak', description=__doc__)
    parser.add_argument('--minutes', type=float, default=60.0)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--report', type=Path, default=ROOT / 'log/soak.txt')
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='soak_') as folder, Client('soak') as client:
        soak = Soak(client, Path(folder), given.seed)
        try:
            soak.run(60.0 * given.minutes)
        finally:
            for node in soak.nodes.values():
                node.process.stop()
    faults = ', '.join(f'{count} {name}' for name, count in sorted(soak.counts.items()))
    summary = f'soak: {given.minutes:g} minutes, faults: {faults}; {len(soak.broken)} rules broken'
    given.report.parent.mkdir(parents=True, exist_ok=True)
    given.report.write_text('\n'.join([*soak.lines, summary, *soak.broken]) + '\n')
    print(f'{summary}; report: {given.report}')
    sys.exit(1 if soak.broken else 0)


if __name__ == '__main__':
    main()
