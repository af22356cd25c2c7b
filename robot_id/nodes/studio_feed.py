"""
What the studio hears of a running robot, in a process of its own: it commands no motion.

It writes lines of JSON on its standard output: `ready` once, then `states`, `restart`, `estimate`,
`status`, `recording` and `answer` as they come. Requests to the logger are lines of its standard
input; it ends with that input.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from robot_id.data.cleaning.stamps import SECOND, Order, StampWatch, to_ns
from robot_id.data.joint_order import JointMatcher
from robot_id.exceptions import DataError
from robot_id.ros.base import NodeBase, end, run
from robot_id.ros.listener import hear
from robot_id.ros.messages import verdict_word
from robot_id.ros.parameter_table import MAPPING, ROBOT, Row
from robot_id.ros.qos import LATCHED, SERVICE
from robot_id.ros.wire import STATE
from robot_id_msgs.msg import DynamicParameters, OnlineStatus, RecordingStatus
from robot_id_msgs.srv import StartRecording, StopRecording

Array = NDArray[np.float64]
# Of all samples within this time the smallest and the largest values are passed on [ns].
INTERVAL = SECOND // 50
WRITE_S = 0.1
# Joint states that may wait while the process works.
DEPTH = 2000
STATES = {
    OnlineStatus.LIVE: 'live',
    OnlineStatus.FROZEN: 'frozen',
    OnlineStatus.PARTIAL: 'partial',
}
TABLE = (
    ROBOT,
    MAPPING,
    Row('estimator', 'online_identifier', 'Node whose estimates are shown.'),
    Row('logger', 'data_logger', 'Node that records.'),
)


class StudioFeed(NodeBase, Node):
    """Hears joint states, estimates and the logger; asks the logger to start and to stop."""

    def __init__(self) -> None:
        super().__init__('studio_feed')
        self.prepare(TABLE)
        robot = self.robot_setting()
        self._driver = self.driver_setting(robot)
        self._matcher, self._watch = JointMatcher(self._driver.names), StampWatch()
        self._still = self._driver.position(np.zeros(robot.n))
        self._bucket: list[tuple[int, Array]] = []
        self._lines: list[dict[str, Any]] = []
        self._waiting: queue.Queue[dict[str, Any]] = queue.Queue()
        topic = self._driver.topics.joint_states
        self._listener = hear(self, JointState, topic, self._on_state, STATE, DEPTH)
        estimator, logger = self.settings['estimator'], self.settings['logger']
        self.create_subscription(
            DynamicParameters, f'{estimator}/dynamic_parameters', self._on_estimate, LATCHED
        )
        self.create_subscription(OnlineStatus, f'{estimator}/status', self._on_status, LATCHED)
        self.create_subscription(RecordingStatus, f'{logger}/status', self._on_recording, LATCHED)
        self._asked = {
            'start': self.create_client(StartRecording, f'{logger}/start', qos_profile=SERVICE),
            'stop': self.create_client(StopRecording, f'{logger}/stop', qos_profile=SERVICE),
        }
        self.create_timer(WRITE_S, self._write, clock=self.steady)
        threading.Thread(target=self._read, daemon=True).start()
        self._tell('ready', joints=list(robot.joint_names), topic=self._listener.topic)

    def _on_state(self, message: JointState) -> None:
        """Take a joint state in; velocity and effort may be missing."""
        try:
            self._matcher.match(message.name)
            position = self._driver.position(self._matcher.take(message.position, 'position'))
            velocity, torque = (np.full(len(position), np.nan) for _ in range(2))
            if len(message.velocity):
                raw = self._matcher.take(message.velocity, 'velocity')
                velocity = self._driver.position(raw) - self._still
            if len(message.effort) and self._driver.law is None:
                torque = self._driver.torque(self._matcher.take(message.effort, 'effort'))
        except DataError as error:
            self.refuse('joint state', error)
            return
        ns = to_ns(message.header.stamp)
        order = self._watch.judge(ns)
        if order in (Order.DUPLICATE, Order.LATE):
            return
        if order is Order.RESTART:
            self._bucket.clear()
            self._tell('restart')
        if self._bucket and ns - self._bucket[0][0] >= INTERVAL:
            self._flush()
        self._bucket.append((ns, np.concatenate([position, velocity, torque])))

    def _flush(self) -> None:
        """Pass on the extremes of an interval, and where the robot is at its end."""
        (first, _), (last, latest) = self._bucket[0], self._bucket[-1]
        rows = np.array([values for _, values in self._bucket])
        pairs = [(first, rows.min(axis=0)), (last, rows.max(axis=0))]
        n = len(self._matcher.wanted)
        self._tell(
            'states',
            time=[ns / SECOND for ns, _ in pairs[: len(rows)]],
            rows=[values.tolist() for _, values in pairs[: len(rows)]],
            now=latest[:n].tolist(),
        )
        self._bucket.clear()

    def _on_estimate(self, message: DynamicParameters) -> None:
        unknown = [float('nan')] * len(message.values)
        self._tell(
            'estimate',
            robot=message.robot,
            method=message.method,
            verdict=verdict_word(message.verdict),
            names=list(message.names),
            values=list(message.values),
            std=list(message.standard_deviations) or unknown,
        )

    def _on_status(self, message: OnlineStatus) -> None:
        self._tell(
            'status',
            names=list(message.names),
            states=[STATES.get(state, '?') for state in message.states],
            reasons=list(message.reasons),
            condition_number=message.condition_number,
            error_percent=message.relative_error_percent,
            samples=message.samples,
            rejected=message.rejected,
            gaps=message.gaps,
        )

    def _on_recording(self, message: RecordingStatus) -> None:
        self._tell(
            'recording',
            recording=message.recording,
            bag=message.bag,
            samples=message.samples,
            lost=message.lost,
            size_mb=message.size_bytes / 1e6,
        )

    def _ask(self, request: dict[str, Any]) -> None:
        """Ask the logger; its answer comes as a line."""
        client = self._asked[request['ask']]
        if not client.service_is_ready():
            self._tell('answer', text=f'{client.srv_name}: no node has this service: start '
                       'data_logger in the same namespace', wrong=True)  # fmt: skip
            return
        message = StopRecording.Request()
        if request['ask'] == 'start':
            message = StartRecording.Request(name=request['name'])
        client.call_async(message).add_done_callback(self._answered)

    def _answered(self, future: Any) -> None:
        answer = future.result()
        wrong = bool(answer.error_code)
        bag = answer.bag if hasattr(answer, 'bag') else answer.status.bag
        self._tell('answer', text=answer.error_string if wrong else bag, wrong=wrong)

    def _read(self) -> None:
        """Take requests until the input ends, and this process with it."""
        for line in sys.stdin:
            self._waiting.put(json.loads(line))
        os.kill(os.getpid(), signal.SIGTERM)

    def _tell(self, kind: str, **content: Any) -> None:
        self._lines.append({'kind': kind, **content})

    def _write(self) -> None:
        """Ask what was requested and write what came."""
        while not self._waiting.empty():
            self._ask(self._waiting.get())
        period = self._watch.period_ns
        self._tell(
            'stream',
            publishers=self._listener.publishers,
            rate_hz=SECOND / period if period else 0.0,
            refused=self.refused,
            last_refusal=self.last_refusal,
            **self._watch.counts(),
        )
        lines, self._lines = self._lines, []
        sys.stdout.write(''.join(json.dumps(line) + '\n' for line in lines))
        sys.stdout.flush()


def main() -> None:
    """Run the process until its input ends."""
    end(run(StudioFeed))


if __name__ == '__main__':
    main()
