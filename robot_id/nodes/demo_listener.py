"""Log the parameters that arrive, and end after some of them: half of the first demo."""

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from robot_id_msgs.msg import DynamicParameters


class DemoListener(Node):
    """Subscribes to `dynamic_parameters`; the parameter `count` says how many it waits for."""

    def __init__(self) -> None:
        super().__init__('demo_listener')
        self._left = self.declare_parameter('count', 0).value
        self.create_subscription(DynamicParameters, 'dynamic_parameters', self._receive, 10)
        self.get_logger().info('ready')

    def _receive(self, message: DynamicParameters) -> None:
        parts = ', '.join(
            f'{name} = {value:g} +- {std:g}'
            for name, value, std in zip(
                message.names, message.values, message.standard_deviations, strict=True
            )
        )
        self.get_logger().info(f'received update {message.update} of {message.robot}: {parts}')
        self._left -= 1
        if self._left == 0:
            raise ExternalShutdownException


def main() -> None:
    """Run the node until it has what it waits for, or Ctrl-C."""
    rclpy.init()
    node = DemoListener()
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
