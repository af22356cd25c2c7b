"""The service `~/identify_payload` of the identification server."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from robot_id.exceptions import OptionError, RobotIdError
from robot_id.progress import Cancelled
from robot_id.ros.base import NodeBase
from robot_id.ros.data_directory import LONGEST, below, recording_below, shortened
from robot_id.ros.durations import to_duration, to_seconds
from robot_id.ros.messages import WrongState
from robot_id.ros.payload_message import identified_message
from robot_id.ros.qos import SERVICE
from robot_id.ros.refusal import as_request
from robot_id_msgs.msg import ErrorCode, RecordingStatus
from robot_id_msgs.srv import IdentifyPayload, StartRecording

# Time for an answer of the logger, and for it to close a bag after its last sample.
FIND_S, ANSWER_S, CLOSE_S, LOOK_S = 10.0, 10.0, 20.0, 0.05


class Server(NodeBase, Node, ABC):
    """
    The node whose service it is.

    :param root: the data directory.
    :param recording: what the logger has said last.
    """

    root: Path
    recording: RecordingStatus | None = None

    @abstractmethod
    def robot_of(self, name: str) -> str:
        """Return the robot of a request."""

    @abstractmethod
    def have_done(self, what: str, work: dict[str, Any], time_limit_s: float) -> dict[str, Any]:
        """Give one task to the worker; refused while it is busy."""

    @abstractmethod
    def refusal_of(self, error: RobotIdError) -> tuple[int, str]:
        """Count a refusal; return its code and its line."""


class PayloadService:
    """
    Identifies the load of a robot, from two recordings or from one that is made now.

    :param server: the node; it has the data directory, the worker and its time limit.
    """

    def __init__(self, server: Server, group: CallbackGroup) -> None:
        self._server = server
        self._logger = server.create_client(
            StartRecording, 'data_logger/start', qos_profile=SERVICE, callback_group=group
        )
        server.create_service(
            IdentifyPayload,
            '~/identify_payload',
            server.counted(self._answer),
            qos_profile=SERVICE,
            callback_group=group,
        )

    def _answer(
        self, request: IdentifyPayload.Request, response: IdentifyPayload.Response
    ) -> IdentifyPayload.Response:
        try:
            found = self._identify(request)
            now = self._server.get_clock().now().to_msg()
            response.payload = identified_message(
                found['payload'], found['robot'], found['frame_id'], now
            )
            response.warnings = [as_request(line) for line in found['warnings']]
            mass = response.payload.inertia.m
            self._server.event('payload_identified', mass=mass, json=found['json_path'])
        except Cancelled:
            response.error_code, response.error_string = (
                ErrorCode.CANCELED,
                'the identification_server ends',
            )
        except RobotIdError as error:
            response.error_code, response.error_string = self._server.refusal_of(error)
        return response

    def _identify(self, request: IdentifyPayload.Request) -> dict[str, Any]:
        server = self._server
        for text in (request.bag_without, request.bag_with, request.json_path, request.link):
            if len(text) > LONGEST:
                raise OptionError(f"'{shortened(text)}' is too long for a request")
        if not (request.bag_without or request.json_path):
            raise OptionError('give bag_without, or json_path, a result without the payload')
        robot = server.robot_of(request.robot)
        without = recording_below(server.root, request.bag_without) if request.bag_without else ''
        params = below(server.root, request.json_path) if request.json_path else ''
        bag = request.bag_with or self._record(to_seconds(request.record_duration))
        loaded = recording_below(server.root, bag)
        work = {
            'kind': 'payload',
            'robot': robot,
            'loaded': str(loaded),
            'unloaded': str(without),
            'params': str(params),
            'mapping': server.settings['mapping'],
            'link': request.link,
            'output': str(loaded.with_name(f'{loaded.name}.results')),
        }
        found: dict[str, Any] = server.have_done(
            f'payload on {bag}', work, server.settings['service_time_limit_s']
        )
        return found

    def _record(self, seconds: float) -> str:
        """Have the logger record, and return the bag when it is closed."""
        if seconds <= 0.0:
            raise OptionError(f'record_duration: {seconds:g} s, must be above 0 to record now')
        # Nodes that start together find each other only after a while.
        if not self._logger.wait_for_service(FIND_S):
            raise WrongState('no data_logger in this namespace to record: start it, or name a bag')
        done = threading.Event()
        future = self._logger.call_async(StartRecording.Request(max_duration=to_duration(seconds)))
        future.add_done_callback(lambda _: done.set())
        if not done.wait(ANSWER_S):
            raise WrongState('the data_logger does not answer')
        answer = future.result()
        if answer.error_code:
            raise WrongState(f'the data_logger does not record: {answer.error_string}')
        self._wait_for(answer.bag, seconds + CLOSE_S)
        return str(answer.bag)

    def _wait_for(self, bag: str, seconds: float) -> None:
        """Wait until the logger has closed a bag."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            status = self._server.recording
            if status is not None and status.bag == bag and not status.recording:
                return
            time.sleep(LOOK_S)
        raise WrongState(f"'{bag}' was not closed within {seconds:.3g} s")
