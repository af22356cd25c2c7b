"""
A driver that speaks otherwise, as a process: between a simulated SCARA and our nodes.

Its joints have other names in another order, the elbow turns the other way from another zero,
positions are degrees, efforts are currents in mA and commands percents. The formulas here are
written out by hand, so that nothing of the mapping is used on both sides.
"""

from __future__ import annotations

import contextlib
from math import degrees

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

QOS = QoSProfile(depth=1000)


class ForeignDriver(Node):
    """Passes states on in its own words, and commands back."""

    def __init__(self) -> None:
        super().__init__('foreign_driver')
        self.states = self.create_publisher(JointState, 'driver/states', QOS)
        self.efforts = self.create_publisher(Float64MultiArray, 'inner/effort_commands', QOS)
        self.create_subscription(JointState, 'inner/joint_states', self.pass_state, QOS)
        self.create_subscription(Float64MultiArray, 'driver/commands', self.pass_command, QOS)
        self.get_logger().info('ready')

    def pass_state(self, state: JointState) -> None:
        """Elbow first: -deg from 0.1 rad, -8 N m/A; shoulder: deg, 40 N m/A; and a gripper."""
        (shoulder, elbow), (t1, t2) = state.position, state.effort
        said = JointState(
            name=['axis_b', 'gripper', 'axis_a'],
            position=[-degrees(elbow - 0.1), 7.0, degrees(shoulder)],
            effort=[t2 / -8.0 * 1000.0, 0.0, t1 / 40.0 * 1000.0],
        )
        said.header = state.header
        self.states.publish(said)

    def pass_command(self, command: Float64MultiArray) -> None:
        """Elbow first, percents of -20 N m and of 150 N m; the stamp of the lock-step last."""
        elbow, shoulder, stamp = command.data
        meant = Float64MultiArray(data=[shoulder / 100.0 * 150.0, elbow / 100.0 * -20.0, stamp])
        meant.layout.dim = [MultiArrayDimension(label='shoulder,elbow,stamp', size=3, stride=3)]
        self.efforts.publish(meant)


def main() -> None:
    """Run until Ctrl-C."""
    rclpy.init()
    executor = SingleThreadedExecutor()
    executor.add_node(ForeignDriver())
    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        executor.spin()


if __name__ == '__main__':
    main()
