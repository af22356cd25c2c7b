"""Publish the parameters of an imaginary axis once a second quarter: half of the first demo."""

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from robot_id_msgs.msg import DynamicParameters


class DemoTalker(Node):
    """Publishes `dynamic_parameters`, counting its updates."""

    def __init__(self) -> None:
        super().__init__('demo_talker')
        self._update = 0
        self._publisher = self.create_publisher(DynamicParameters, 'dynamic_parameters', 10)
        self._timer = self.create_timer(0.25, self._publish)

    def _publish(self) -> None:
        message = DynamicParameters(
            robot='demo_axis',
            method='a_priori',
            update=self._update,
            names=['ZZ1R', 'Fv1', 'Fc1'],
            values=[95.0, 200.0, 20.0],
            standard_deviations=[0.5, 2.0, 0.4],
            percent_deviations=[100 * 0.5 / 95.0, 1.0, 2.0],
            essential=[True, True, True],
        )
        message.header.stamp = self.get_clock().now().to_msg()
        self._publisher.publish(message)
        self.get_logger().info(f'sent update {self._update}')
        self._update += 1


def main() -> None:
    """Run the node until Ctrl-C."""
    rclpy.init()
    node = DemoTalker()
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
