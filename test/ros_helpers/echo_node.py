"""
The far end of the interface tests: runs as a process of its own.

Messages come back as they arrived. A service answers with the filled response when its request was
the filled one, and with an empty response otherwise. The action counts up in its feedback until it
has done `bag` steps (the goal's field, as text) or is cancelled.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

sys.path.insert(0, str(Path(__file__).parents[1]))

from ros_helpers.filled import filled, interfaces

from robot_id.ros.base import end, run
from robot_id_msgs.action import Identify
from robot_id_msgs.msg import ErrorCode


class Echo(Node):
    """One topic pair per message, one service per service type, the action `identify`."""

    # What `run` asks of every node.
    building = answering = unusable = False

    def __init__(self) -> None:
        super().__init__('echo')
        for kind in interfaces('msg'):
            publisher = self.create_publisher(kind, f'echo/{kind.__name__}/out', 10)
            self.create_subscription(kind, f'echo/{kind.__name__}/in', publisher.publish, 10)
        for kind in interfaces('srv'):
            self.create_service(kind, f'echo/{kind.__name__}', self._answer(kind))
        self._action = ActionServer(
            self,
            Identify,
            'identify',
            self._identify,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
        self.get_logger().info('ready')

    def close(self) -> None:
        """Nothing moves here."""

    @staticmethod
    def _answer(kind: Any) -> Any:
        def answer(request: Any, response: Any) -> Any:
            return filled(kind.Response, 2) if request == filled(kind.Request, 1) else response

        return answer

    def _identify(self, handle: Any) -> Identify.Result:
        steps = int(handle.request.bag)
        for step in range(1, steps + 1):
            if handle.is_cancel_requested:
                handle.canceled()
                return Identify.Result(error_code=ErrorCode.CANCELED, error_string='on request')
            handle.publish_feedback(
                Identify.Feedback(
                    iteration=step, fraction=step / steps, text=handle.request.method
                )
            )
            time.sleep(0.02)
        handle.succeed()
        return filled(Identify.Result, 2)


def main() -> None:
    """Run until Ctrl-C, with the end that every node has: no signal is handled twice."""
    end(run(Echo, executor=lambda: MultiThreadedExecutor(2)))


if __name__ == '__main__':
    main()
