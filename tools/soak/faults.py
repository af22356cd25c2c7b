"""The faults: each does its harm, and returns what it did and what answered."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from running.client import Client
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_id.nodes.tables import TABLES
from robot_id.ros.qos import SERVICE
from robot_id_msgs.action import Identify
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import EnableLearning, ListMethods, StartRecording, StopRecording
from tools.soak.graph import START_S, Graph, resident_kb
from tools.soak.recordings import Recording
from tools.soak.watch import OWN

HOSTILE = (float('nan'), float('inf'), -float('inf'), 1e308)
# Seconds of the stamp: 1970, before it, and the last ones that the message can hold.
STAMPS = (0, -1, -(2**31), 2**31 - 1)
CALLS = 200
CANCELED = 5
# A request that is not answered is sent again.
ANSWER_S, ATTEMPTS = 40.0, 4


class Broken(Exception):
    """A rule that a fault broke."""


class Faults:
    """
    All faults on one graph.

    :param draw: decides what is hit and how.
    :param folder: data directory; a disk of its own where `small` says so.
    """

    def __init__(
        self,
        graph: Graph,
        client: Client,
        draw: random.Random,
        folder: Path,
        joints: Sequence[str],
        small: bool,
    ) -> None:
        self.graph, self.client, self.draw, self.folder = graph, client, draw, folder
        self.joints = list(joints)
        self.recordings: list[Recording] = []
        node = client.node
        self._states = node.create_publisher(JointState, 'joint_states', 10)
        self._commands = node.create_publisher(Float64MultiArray, 'effort_commands', 10)
        self._references = node.create_publisher(JointTrajectory, 'reference', 10)
        self.all: dict[str, Callable[[], str]] = {
            'kill -9': self.kill, 'not finite': self.not_finite, 'stamp': self.stamp,
            'no message': self.no_message, 'parameter': self.parameter,
            'parallel calls': self.calls, 'recording': self.record, 'cancel': self.cancel,
        }  # fmt: skip
        if small:
            self.all['disk full'] = self.disk_full

    def kill(self) -> str:
        """Kill a node without warning, and start it again."""
        name = self.draw.choice(list(self.graph.nodes))
        helpers = self.graph.kill(name)
        if name == 'data_logger' and self._recording:
            self._recording.end('logger killed')
        self.client.spin_for(self.draw.uniform(0.0, 2.0))
        deadline = time.monotonic() + 20.0
        while left := [pid for pid in helpers if resident_kb(pid)]:
            if time.monotonic() > deadline:
                raise Broken(f'{len(left)} helper process(es) of {name} live on without it')
            self.client.spin_for(0.1)
        self.graph.forget(name)
        took = self.graph.start(name)
        if name == 'identification_server':
            self.identify()
        return f'{name} killed, ready again in {took:.1f} s'

    def not_finite(self) -> str:
        """Publish what is no number, or none that a robot has, on every topic."""
        value = self.draw.choice(HOSTILE)
        what = self.draw.choice(('joint_states', 'effort_commands', 'reference'))
        if what == 'joint_states':
            self._states.publish(self._state(value, time.time_ns()))
        elif what == 'reference':
            message = JointTrajectory(joint_names=self.joints)
            message.header.frame_id = OWN
            point = JointTrajectoryPoint(positions=[value], velocities=[value])
            point.accelerations = [value]
            message.points = [point] * self.draw.choice((1, 3))
            self._references.publish(message)
        else:
            # A drive limits what is finite: that would be a command.
            value = value if value != 1e308 else float('nan')
            values = [value] * self.draw.choice((1, 3, 1000))
            message = Float64MultiArray(data=values)
            message.layout.dim = [MultiArrayDimension(label=OWN)]
            self._commands.publish(message)
        return f'{value} on {what}'

    def stamp(self) -> str:
        """Publish states from another time."""
        seconds = self.draw.choice((*STAMPS, int(time.time()) - 10, int(time.time()) + 10))
        self._states.publish(self._state(0.0, 10**9 * seconds))
        return f'a joint state of second {seconds}'

    def no_message(self) -> str:
        """Publish bytes that are no message of this type."""
        size = self.draw.choice((0, 4, 12, 60, 4000))
        topic = self.draw.choice((self._states, self._commands, self._references))
        topic.publish(b'\0\1\0\0' * bool(size) + self.draw.randbytes(max(size - 4, 0)))
        return f'{size} random bytes on {topic.topic_name}'

    def parameter(self) -> str:
        """Ask a node for a value of a parameter that it must refuse."""
        name = self.draw.choice(list(self.graph.nodes))
        row = self.draw.choice(TABLES[name])
        value = self.draw.choice((
            ParameterValue(type=3, double_value=self.draw.choice(HOSTILE)),
            ParameterValue(type=2, integer_value=-(2**63)),
            ParameterValue(type=4, string_value='x' * 100_000),
            ParameterValue(type=0),
        ))  # fmt: skip
        request = SetParameters.Request(parameters=[Parameter(name=row.name, value=value)])
        answer = self._call(SetParameters, f'{name}/set_parameters', request)
        taken = answer.results[0].successful
        if taken and value.type == 3 and value.double_value != value.double_value:
            raise Broken(f'{name} took {row.name} = nan')
        if taken:
            good = Parameter(name=row.name, value=_value(row.default))
            request = SetParameters.Request(parameters=[good])
            self._call(SetParameters, f'{name}/set_parameters', request)
        said = 'taken' if taken else f'refused: {answer.results[0].reason[:80]}'
        return f'{row.name} of {name} = value of type {value.type}: {said}'

    def calls(self) -> str:
        """Call one service 200 times at once."""
        kind, name, request = self.draw.choice((
            (ListMethods, 'identification_server/list_methods', ListMethods.Request()),
            (ListParameters, 'ctc_controller/list_parameters', ListParameters.Request()),
            (EnableLearning, 'ctc_controller/enable_learning', EnableLearning.Request()),
            (GetParameters, 'ddm_simulator/get_parameters', GetParameters.Request()),
            (StartRecording, 'data_logger/start', StartRecording.Request(name='../x')),
        ))  # fmt: skip
        caller = self.client.node.create_client(kind, name, qos_profile=SERVICE)
        try:
            self.client.spin_until(caller.service_is_ready, START_S, f'service {name}')
            begun = time.monotonic()
            answers = [caller.call_async(request) for _ in range(CALLS)]
            self.client.spin_until(
                lambda: all(answer.done() for answer in answers), START_S, f'{CALLS} answers'
            )
        except AssertionError as error:
            done = sum(answer.done() for answer in answers)
            raise Broken(f'{name}: {done} of {CALLS} calls answered') from error
        finally:
            self.client.node.destroy_client(caller)
        return f'{CALLS} calls of {name} answered in {time.monotonic() - begun:.2f} s'

    @property
    def _recording(self) -> Recording | None:
        last = self.recordings[-1] if self.recordings else None
        return last if last is not None and not last.ended else None

    def record(self) -> str:
        """End the recording that runs and begin another one."""
        said = self.stop_recording()
        name = f'soak_{time.time_ns()}'
        request = StartRecording.Request(name=name)
        answer = self._call(StartRecording, 'data_logger/start', request)
        if answer.error_code != ErrorCode.SUCCESS:
            raise Broken(f'no recording: {answer.error_string}')
        self.recordings.append(Recording(self.folder / name, time.time_ns()))
        return f'{said}recording {name}'

    def stop_recording(self) -> str:
        """End the recording, if there is one, and say what the logger says."""
        if self._recording is None:
            return ''
        request = StopRecording.Request()
        answer = self._call(StopRecording, 'data_logger/stop', request)
        self._recording.end('stopped')
        if answer.error_code != ErrorCode.SUCCESS:
            raise Broken(f'the recording could not be stopped: {answer.error_string}')
        return f'{answer.status.samples} samples, {answer.status.lost} lost; '

    def cancel(self) -> str:
        """Cancel an identification, then ask for a whole one."""
        sent = self._goal('didim')
        self.client.spin_for(self.draw.uniform(0.0, 2.0))
        begun = time.monotonic()
        agreed = sent.cancel(START_S)
        status, _ = sent.result(START_S)
        if agreed and status != CANCELED:
            raise Broken(f'cancelled, but its status is {status}')
        took = time.monotonic() - begun
        return f'didim {"cancelled" if agreed else "was done"} in {took:.2f} s, {self.identify()}'

    def identify(self) -> str:
        """Identify from a recording that is sound."""
        sent = self._goal('idim_wls')
        _, result = sent.result(START_S)
        if result.error_code not in (ErrorCode.SUCCESS, ErrorCode.STORAGE_FAILED):
            raise Broken(f'no identification: {result.error_string}')
        return f'idim_wls then found {len(result.result.parameters.names)} parameters'

    def _goal(self, method: str) -> Any:
        goal = Identify.Goal(robot='emps', bag='known', method=method)
        name = 'identification_server/identify'
        return self._ask(lambda: self.client.send_goal(Identify, name, goal, ANSWER_S))

    def _call(self, kind: type, name: str, request: Any) -> Any:
        return self._ask(lambda: self.client.call(kind, name, request, ANSWER_S))

    @staticmethod
    def _ask(ask: Callable[[], Any]) -> Any:
        """
        Ask, and ask again where nobody answers.

        For some seconds the middleware takes a killed node for alive: what is sent to it is lost.
        """
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(AssertionError):
                return ask()
        return ask()

    def disk_full(self) -> str:
        """Fill the disk, see what the logger says, and make room again."""
        if self._recording is None:
            self.record()
        full = self.folder / 'full'
        try:
            with full.open('wb', buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(1 << 16))
                except OSError:
                    pass
                os.fsync(file.fileno())
            assert self._recording is not None
            self._recording.end('disk full')
            self.client.spin_for(3.0)
        finally:
            full.unlink()
        request = StopRecording.Request()
        answer = self._call(StopRecording, 'data_logger/stop', request)
        if answer.error_code != ErrorCode.STORAGE_FAILED:
            raise Broken(f'a full disk, and the logger says: {answer.error_string or "nothing"}')
        return f'logger: {answer.error_string}; {self.record()}'

    def _state(self, value: float, ns: int) -> JointState:
        message = JointState(name=self.joints)
        message.header.frame_id = OWN
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(ns, 10**9)
        message.position = message.velocity = message.effort = [value]
        return message


def _value(default: Any) -> ParameterValue:
    from rclpy.parameter import Parameter as RclpyParameter

    if default == []:
        return ParameterValue(type=0)
    return RclpyParameter('x', value=default).to_parameter_msg().value
