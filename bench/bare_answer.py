"""The bare round trip: answers every joint state with a command of zeros, no more."""

from __future__ import annotations

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_id.ros.base import end, run
from robot_id.ros.qos import STREAM
from robot_id.ros.real_time import ask_for_real_time


class BareAnswer(Node):
    """One subscription, one publisher."""

    def __init__(self) -> None:
        super().__init__('bare_answer')
        joints = int(self.declare_parameter('joints', 1).value or 1)
        priority = int(self.declare_parameter('real_time_priority', 0).value or 0)
        command = Float64MultiArray(data=[0.0] * joints)
        publisher = self.create_publisher(Float64MultiArray, 'effort_commands', STREAM)
        self.create_subscription(
            JointState, 'joint_states', lambda _: publisher.publish(command), STREAM, raw=True
        )
        if priority:
            ask_for_real_time(priority)
        self.get_logger().info('ready')


if __name__ == '__main__':
    end(run(BareAnswer))
