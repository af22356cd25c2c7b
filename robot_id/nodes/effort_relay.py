"""The node `effort_relay`: passes torque commands on, and sends zero when they stop."""

from __future__ import annotations

import time

import numpy as np
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray, MultiArrayLayout

from robot_id.exceptions import DataError
from robot_id.ros.base import NodeBase, end, run
from robot_id.ros.diagnostics import OK, WARN, RateMeter, Report
from robot_id.ros.driver_mapping import topics_of
from robot_id.ros.effort_commands import COMMANDS
from robot_id.ros.listener import hear
from robot_id.ros.parameter_table import MAPPING, REAL_TIME_PRIORITY, Row
from robot_id.ros.qos import STREAM
from robot_id.ros.wire import EFFORTS

# The watchdog looks so many times within its time.
LOOKS = 10
# A driver keeps the last command it has heard; zero is sent for this long, then it is silent.
ZERO_S = 1.0

TABLE = (
    MAPPING,
    Row('timeout_s', 0.05, 'Zero torque within this time after the last command [s].', 2e-3, 10.0),
    REAL_TIME_PRIORITY,
)  # fmt: skip


class EffortRelay(NodeBase, Node):
    """
    Stands between a controller and a driver that repeats its last command for ever.

    Every command is passed on at once, as it is. After `timeout_s` without one, zeros are sent: a
    controller that was killed, hangs or lost its network leaves no torque behind.
    """

    def __init__(self) -> None:
        super().__init__('effort_relay')
        self.prepare(TABLE)
        self._timeout_s = self.settings['timeout_s']
        self._period_s = self._timeout_s / LOOKS
        topic = topics_of(self.settings['mapping']).effort_commands or COMMANDS
        self._robot = self.create_publisher(Float64MultiArray, topic, STREAM)
        self._listener = hear(self, Float64MultiArray, '~/commands', self._pass_on, EFFORTS)
        # The zeros that follow the last command, None before the first one.
        self._zero: Float64MultiArray | None = None
        self._heard, self._stopped = 0.0, False
        self._passed = self._stops = 0
        self._meter = RateMeter()
        self.create_timer(self._period_s, self._watch, clock=self.steady)
        self.diagnostics.add('relay', self._report)
        self.ask_for_real_time()
        self.event(
            'ready', node=self.get_fully_qualified_name(), to=self._robot.topic_name,
            timeout_s=self._timeout_s,
        )  # fmt: skip

    def _pass_on(self, command: Float64MultiArray) -> None:
        if not np.all(np.isfinite(command.data)):
            self.refuse('command', DataError('a torque is not finite'))
            return
        self._robot.publish(command)
        self._heard = time.monotonic()
        self._passed += 1
        self._meter.tick()
        if self._zero is None or len(self._zero.data) != len(command.data):
            # The message is filled again by the next one.
            layout = MultiArrayLayout(dim=list(command.layout.dim))
            self._zero = Float64MultiArray(layout=layout, data=[0.0] * len(command.data))
        if self._stopped:
            self._stopped = False
            self.event('commands again')

    def _watch(self) -> None:
        """Send zero when the next look would come too late."""
        age = time.monotonic() - self._heard
        if self._zero is None or age < self._timeout_s - 2.0 * self._period_s:
            return
        if not self._stopped:
            self._stopped = True
            self._stops += 1
            self._robot.publish(self._zero)
            self.warning('no command: zero torque', timeout_s=self._timeout_s)
        elif age < self._timeout_s + ZERO_S:
            self._robot.publish(self._zero)

    def _report(self) -> Report:
        values = {
            **self._meter.take(),
            **self.process_values(),
            'passed_on': self._passed,
            'stops': self._stops,
            'refused': self.refused,
            'last_refusal': self.last_refusal,
        }
        if self._zero is None:
            return OK, 'waits for commands', values
        if self._stopped:
            return WARN, 'no commands: zero torque', values
        return OK, 'passes commands on', values

    def close(self) -> None:
        """Send zero torque."""
        if self._zero is not None:
            self._robot.publish(self._zero)


def main() -> None:
    """Run the node until Ctrl-C."""
    end(run(EffortRelay))
