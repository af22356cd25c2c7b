"""The node `identify_once`: waits for a moving robot, records it, identifies it, and ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from robot_id.data.cleaning.stamps import SECOND, header_stamp_ns, to_ns
from robot_id.exceptions import DataError
from robot_id.methods import registry
from robot_id.ros.asking import Failed, ask
from robot_id.ros.base import NodeBase, end, run
from robot_id.ros.durations import to_duration
from robot_id.ros.listener import Listener
from robot_id.ros.messages import verdict_word
from robot_id.ros.parameter_table import Row
from robot_id.ros.qos import DEPTH, LATCHED
from robot_id_msgs.action import Identify
from robot_id_msgs.msg import IdentificationResult, RecordingStatus
from robot_id_msgs.srv import StartRecording, StopRecording

TABLE = (
    Row('method', 'idim_wls', 'Identification method.', choices=tuple(registry.names())),
    Row('wait_for_motion', False, 'Wait until the trajectory_generator has ended its approach, so '
        'that the motion itself is recorded.'),
    Row('settle_s', 1.0, 'Time to wait before the recording starts, from the first joint state or '
        'the end of the approach [s].', 0.0, 1e6),
    Row('record_s', 10.0, 'Length of the recording [s].', 0.1, 1e6),
    Row('wait_s', 60.0, 'Time limit for the other nodes and the first joint states [s].',
        1.0, 1e6),
)  # fmt: skip


class IdentifyOnce(NodeBase, Node):
    """Asks the data logger and the identification server in its namespace, one after the other."""

    def __init__(self) -> None:
        super().__init__('identify_once')
        self.prepare(TABLE)
        self._stamp = 0
        self._moved = threading.Condition()
        self._begins: int | None = None
        self._listener = Listener(self, JointState, 'joint_states', self._on_states, DEPTH)
        self.create_subscription(
            Header, 'trajectory_generator/motion_start', self._on_motion, LATCHED
        )
        self._start = self.create_client(StartRecording, 'data_logger/start')
        self._stop = self.create_client(StopRecording, 'data_logger/stop')
        self._identify = ActionClient(self, Identify, 'identification_server/identify')
        self.failed = False
        # Once the executor turns: what is asked is sent by its thread.
        self._beginning = self.create_timer(0.0, self._begin, clock=self.steady)

    def _on_states(self, received: int, data: bytes) -> None:
        try:
            stamp = header_stamp_ns(data)
        except DataError as error:
            self.refuse('joint state', error)
            return
        with self._moved:
            self._stamp = stamp
            self._moved.notify_all()

    def _begin(self) -> None:
        self._beginning.cancel()
        threading.Thread(target=self._run, daemon=True).start()

    def _on_motion(self, message: Header) -> None:
        with self._moved:
            self._begins = to_ns(message.stamp) if message.frame_id else None
            self._moved.notify_all()

    def _run(self) -> None:
        try:
            self._table(self._result(self._record()))
        except Failed as error:
            self.failed = True
            self.failure(str(error))
        os.kill(os.getpid(), signal.SIGINT)

    def _record(self) -> RecordingStatus:
        limit = self.settings['wait_s']
        for client, what in (
            (self._start.wait_for_service, 'data_logger'),
            (self._identify.wait_for_server, 'identification_server'),
        ):
            if not client(limit):
                raise Failed(f'no {what} within {limit:g} s')
        self._wait_for_stamp(0, limit)
        begin = self._motion_start(limit)
        settle = self.settings['settle_s']
        # The approach and the settling take their own time, by the stamps of the robot.
        wait = limit + settle + max(begin - self._stamp, 0) / SECOND
        self._wait_for_stamp(begin + settle * SECOND, wait)
        length = self.settings['record_s']
        wanted = StartRecording.Request(max_duration=to_duration(length))
        answer = self._answer(self._start, wanted)
        self._wait_for_stamp(self._stamp + (length + 0.5) * SECOND, limit + 4.0 * length)
        status = self._answer(self._stop, StopRecording.Request()).status
        self.event(
            'recorded', bag=answer.bag, samples=status.samples, gaps=status.gaps, lost=status.lost
        )
        return status

    def _wait_for_stamp(self, stamp: float, limit: float) -> None:
        with self._moved:
            if not self._moved.wait_for(lambda: self._stamp > stamp, limit):
                raise Failed(f'no joint states at {stamp / SECOND:.3f} s within {limit:g} s')

    def _motion_start(self, limit: float) -> int:
        """Return the stamp from which on there is something to record."""
        if not self.settings['wait_for_motion']:
            return self._stamp
        with self._moved:
            if not self._moved.wait_for(lambda: self._begins is not None, limit):
                raise Failed(f'the trajectory_generator plays no motion within {limit:g} s')
            assert self._begins is not None
            return max(self._begins, self._stamp)

    def _answer(self, client: Any, request: Any) -> Any:
        limit = self.settings['wait_s']
        answer = self._ask(lambda: client.call_async(request), limit, client.srv_name)
        if answer.error_code:
            raise Failed(f'{client.srv_name}: {answer.error_string}')
        return answer

    def _result(self, status: RecordingStatus) -> IdentificationResult:
        goal = Identify.Goal(bag=status.bag, method=self.settings['method'])
        handle = self._ask(
            lambda: self._identify.send_goal_async(goal, self._on_feedback), 60.0, 'the goal'
        )
        if not handle.accepted:
            raise Failed('identification_server: the goal was not accepted')
        answer = self._ask(handle.get_result_async, None, 'identification_server').result
        if answer.error_code:
            raise Failed(f'identification_server: {answer.error_string}')
        return answer.result

    def _ask(self, send: Callable[[], Any], limit: float | None, what: str) -> Any:
        """Return the answer to a request, see `ask`."""
        return ask(self, send, limit, what, self._identify.server_is_ready)

    def _on_feedback(self, message: Any) -> None:
        feedback = message.feedback
        self.event(feedback.text or 'working', percent=round(100 * feedback.fraction))

    def _table(self, result: IdentificationResult) -> None:
        p = result.parameters
        lines = [f'{"parameter":>12} {"value":>14} {"std":>12} {"%":>8}']
        for name, value, std, percent in zip(
            p.names, p.values, p.standard_deviations, p.percent_standard_deviations
        ):
            lines.append(f'{name:>12} {value:14.6g} {std:12.3g} {percent:8.2f}')
        self.get_logger().info('\n'.join([f'{p.robot} by {p.method}', *lines]))
        self.event(
            'identified',
            error_percent=result.relative_error_percent,
            verdict=verdict_word(p.verdict),
            converged=result.converged,
            json=result.json_path,
        )
        for reason in p.verdict.reasons:
            self.get_logger().warning(reason)
        for warning in result.warnings:
            self.get_logger().warning(warning)


def main() -> None:
    """Run the node until it is done; exit 1 if it failed."""
    made: list[IdentifyOnce] = []

    def make() -> IdentifyOnce:
        made.append(IdentifyOnce())
        return made[0]

    code = run(make, executor=SingleThreadedExecutor)
    end(code or int(bool(made) and made[0].failed))
