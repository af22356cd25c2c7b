"""The node `data_logger`: records joint states, reference and commands without loss."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_id.data.io.bags.logging_thread import BagThread, Limits
from robot_id.data.io.bags.mcap_writer import Channel
from robot_id.data.io.bags.reader import STATE_TOPICS
from robot_id.data.io.bags.types import channel
from robot_id.exceptions import OptionError, RobotIdError
from robot_id.ros.base import NodeBase, end, run
from robot_id.ros.data_directory import DATA_DIRECTORY, shortened
from robot_id.ros.diagnostics import ERROR, OK, WARN, Report
from robot_id.ros.driver_mapping import topics_of
from robot_id.ros.durations import to_duration, to_seconds, to_stamp
from robot_id.ros.listener import Listener
from robot_id.ros.messages import ForbiddenPath, WrongState
from robot_id.ros.parameter_table import MAPPING, Row
from robot_id.ros.qos import LATCHED, SERVICE
from robot_id.ros.refusal import Refusal, code_of
from robot_id.ros.trajectory_client import control_messages
from robot_id.ros.wire import definition, type_name
from robot_id_msgs.msg import ErrorCode, RecordingStatus
from robot_id_msgs.srv import StartRecording, StopRecording

# The joint states come first: their stamps show what is missing.
TOPICS = (
    ('joint_states', JointState, 'sensor_msgs/msg/JointState'),
    ('reference', JointTrajectory, 'trajectory_msgs/msg/JointTrajectory'),
    ('effort_commands', Float64MultiArray, 'std_msgs/msg/Float64MultiArray'),
)
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,99}')
CONNECT_S = 1.0
WATCH_S = 0.2

TABLE = (
    DATA_DIRECTORY,
    MAPPING,
    Row('controller', 'joint_trajectory_controller', 'Controller whose ~/controller_state '
        'and older ~/state are recorded too, where control_msgs is installed.'),
    Row('flush_period_s', 0.5, 'Time between two writes to disk; a crash loses at most this [s].',
        0.05, 1.0),
    Row('minimum_free_mb', 200.0, 'Free disk space that a recording needs to start and to go on '
        '[MB].', 0.0, 1e9),
    Row('queue_depth', 2000, 'Messages per topic that may wait while the machine is busy.',
        10, 100000),
)  # fmt: skip


class DataLogger(NodeBase, Node):
    """Records joint states, reference and effort commands as they are, byte by byte."""

    def __init__(self) -> None:
        super().__init__('data_logger')
        self.prepare(TABLE)
        self._root = Path(self.settings['data_directory']).expanduser().absolute()
        try:
            self._root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OptionError(
                f'parameter data_directory: {self._root} cannot be made ({error.strerror})'
            ) from error
        found = topics_of(self.settings['mapping'])
        given = found.joint_states, found.reference, found.effort_commands
        self._topics = [name or ours for name, (ours, *_) in zip(given, TOPICS)]
        self._bag: BagThread | None = None
        self._listeners: list[Listener] = []
        self._last: RecordingStatus | None = None
        self._reported = True
        self._trouble = ''
        self._statuses = self.create_publisher(RecordingStatus, '~/status', LATCHED)
        self.create_service(StartRecording, '~/start', self._start, qos_profile=SERVICE)
        self.create_service(StopRecording, '~/stop', self._stop, qos_profile=SERVICE)
        self.create_timer(WATCH_S, self._watch, clock=self.steady)
        self.create_timer(1.0, self._publish, clock=self.steady)
        self.diagnostics.add('recording', self._report)
        self.event('ready', node=self.get_fully_qualified_name(), data_directory=self._root)

    def _start(
        self, request: StartRecording.Request, response: StartRecording.Response
    ) -> StartRecording.Response:
        try:
            response.bag = self._begin(request.name, to_seconds(request.max_duration))
        except RobotIdError as error:
            self.failure(f'not recording: {error}')
            response.error_code, response.error_string = code_of(error), str(error)
        return response

    def _begin(self, name: str, duration_s: float) -> str:
        self._watch()
        if self._bag is not None:
            raise Refusal(
                ErrorCode.BUSY, f"recording '{self._bag.path.name}' is running: stop it first"
            )
        if duration_s < 0.0:
            raise OptionError(f'max_duration: {duration_s:g} s is below zero; give 0 for no limit')
        path = self._root / (self._checked(name) if name else self._dated())
        settings = self.settings
        try:
            free = shutil.disk_usage(self._root).free
            if free < settings['minimum_free_mb'] * 1e6:
                raise Refusal(
                    ErrorCode.STORAGE_FAILED,
                    f'only {free / 1e6:.0f} MB are free on the disk of {self._root}, '
                    f'minimum_free_mb is {settings["minimum_free_mb"]:g}',
                )
            limits = Limits(
                duration_s, int(settings['minimum_free_mb'] * 1e6), settings['flush_period_s']
            )
            heard = [
                (topic, kind, channel('', text)) for topic, (_, kind, text)
                in zip(self._topics, TOPICS)
            ]  # fmt: skip
            heard += self._controller_states()
            self._listeners = [
                Listener(self, kind, topic, self._taker(number), settings['queue_depth'])
                for number, (topic, kind, _) in enumerate(heard)
            ]
            channels = [
                replace(plain, topic=listener.topic)
                for listener, (_, _, plain) in zip(self._listeners, heard)
            ]
            bag = BagThread(path, channels, limits)
        except OSError as error:
            self._deafen()
            raise Refusal(
                ErrorCode.STORAGE_FAILED, f'{path}: {error.strerror or error}'
            ) from error
        found = [listener.wait_for_publishers(CONNECT_S) for listener in self._listeners]
        self._bag, self._trouble, self._reported = bag, '', False
        self._publish()
        self.event('recording', bag=path.name, publishers=found)
        return path.name

    def _controller_states(self) -> list[tuple[str, Any, Channel]]:
        """Return topic, type and channel of the controller's states, none without control_msgs."""
        kinds = control_messages()
        if kinds is None:
            return []
        plain = Channel('', type_name(kinds[1]), definition(kinds[1]))
        controller = self.settings['controller']
        return [(f'{controller}/{topic}', kinds[1], plain) for topic in STATE_TOPICS]

    def _checked(self, name: str) -> str:
        if not NAME.fullmatch(name) or '..' in name:
            raise ForbiddenPath(
                f"'{shortened(name)}' is not a valid bag name: use letters, digits, '-', '_' and "
                "'.', no path"
            )
        if (self._root / name).exists() or (self._root / name).is_symlink():
            raise ForbiddenPath(f"'{name}' exists already in {self._root}: choose another name")
        return name

    def _dated(self) -> str:
        # The date of the wall clock, also with simulated time.
        stem = datetime.now().strftime('%Y-%m-%d_%H-%M-%S')
        name, number = stem, 1
        while (self._root / name).exists():
            name, number = f'{stem}_{number}', number + 1
        return name

    def _taker(self, number: int):  # type: ignore[no-untyped-def]
        def take(received: int, data: bytes) -> None:
            if self._bag is not None:
                self._bag.take(number, received, data)

        return take

    def _stop(
        self, request: StopRecording.Request, response: StopRecording.Response
    ) -> StopRecording.Response:
        if self._bag is not None:
            self._end('on request')
        elif self._last is None or self._reported:
            error = WrongState('nothing is being recorded: call start first')
            response.error_code, response.error_string = code_of(error), str(error)
            return response
        self._reported = True
        response.status = self._last
        if self._trouble:
            response.error_code = ErrorCode.STORAGE_FAILED
            response.error_string = f'the recording ended early: {self._trouble}'
        return response

    def _watch(self) -> None:
        """End a recording that has ended itself."""
        if self._bag is not None and self._bag.ended:
            self._end(self._bag.ended)

    def _end(self, why: str) -> None:
        bag = self._bag
        assert bag is not None
        lost = self._listeners[0].lost
        self._deafen()
        bag.close(lost)
        self._last = self._status(bag, lost, False)
        self._bag = None
        if bag.failed:
            self._trouble = bag.ended
            self.failure(f'recording ended early: {bag.ended}')
        self._statuses.publish(self._last)
        s = self._last
        self.event('recorded', bag=s.bag, why=why, samples=s.samples, gaps=s.gaps, lost=s.lost)

    def _deafen(self) -> None:
        for listener in self._listeners:
            listener.close()
        self._listeners = []

    def _status(self, bag: BagThread, lost: int, recording: bool) -> RecordingStatus:
        statistics = bag.statistics
        status = RecordingStatus(
            recording=recording,
            bag=bag.path.name,
            topics=[each.topic for each in bag.channels],
            messages=bag.counts,
            samples=bag.counts[0],
            gaps=statistics.gaps,
            # Two counts of the same loss: missing stamps, and the report of the middleware.
            lost=max(statistics.missing, lost),
            period=to_duration(statistics.period_s),
            duration=to_duration(statistics.duration_s),
            size_bytes=bag.size,
        )
        status.header.stamp = to_stamp(bag.last_received)
        return status

    def _publish(self) -> None:
        if self._bag is not None:
            lost = self._listeners[0].lost if self._listeners else 0
            self._statuses.publish(self._status(self._bag, lost, True))

    def _report(self) -> Report:
        if self._bag is None:
            return (ERROR, self._trouble, {}) if self._trouble else (OK, 'not recording', {})
        lost = self._listeners[0].lost if self._listeners else 0
        status = self._status(self._bag, lost, True)
        values = {
            'bag': status.bag,
            'samples': status.samples,
            'gaps': status.gaps,
            'lost': status.lost,
            'duplicates': self._bag.statistics.duplicates,
            'backward': self._bag.statistics.backward,
            'period_s': to_seconds(status.period),
            'size_bytes': status.size_bytes,
        }
        if not status.samples:
            return WARN, f'recording {status.bag}: no joint states', values
        if status.lost:
            return WARN, f'recording {status.bag}: {status.lost} joint states lost', values
        return OK, f'recording {status.bag}', values

    def close(self) -> None:
        """Close the bag."""
        if self._bag is not None:
            self._end('the node ends')


def main() -> None:
    """Run the node until Ctrl-C."""
    end(run(DataLogger))
