"""A SCARA whose joint states and references the test sends, one at a time."""

import time

from running.robot_graph import START_S
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_id.ros.durations import to_stamp

MS = 1_000_000
NAMES = ('shoulder', 'elbow')


class PlayedRobot:
    """A SCARA played by the test, one joint state at a time."""

    def __init__(self, client):
        self.client = client
        self.ns = 10 * 10**9
        self.commands = client.collect(Float64MultiArray, 'effort_commands', 100)
        self.states = client.node.create_publisher(JointState, 'joint_states', 10)
        self._references = client.node.create_publisher(JointTrajectory, 'reference', 10)
        client.spin_until(
            lambda: (
                self.states.get_subscription_count() and self._references.get_subscription_count()
            ),
            START_S,
            'the controller listens',
        )

    def send(self, position, names=NAMES, step=MS, ns=None):
        """Send a state; return the answer, None when there is none."""
        self.ns = self.ns + step if ns is None else self.ns
        at = len(self.commands)
        self.publish(position, names, self.ns if ns is None else ns)
        deadline = time.monotonic() + 0.4
        while len(self.commands) == at and time.monotonic() < deadline:
            self.client.spin_for(0.005)
        return self.commands[-1] if len(self.commands) > at else None

    def publish(self, position, names=NAMES, ns=None):
        """Send a state and wait for nothing; without a stamp it is the next sample."""
        if ns is None:
            self.ns += MS
        message = JointState(name=list(names), position=[float(x) for x in position])
        message.header.stamp = to_stamp(self.ns if ns is None else ns)
        self.states.publish(message)

    def refer(self, position, ns):
        """Send one point of a reference at rest, and give it time to arrive."""
        self.point(position, [0.0, 0.0], ns)
        self.client.spin_for(0.05)

    def point(self, position, velocity, ns):
        """Send one point of a reference and wait for nothing."""
        point = JointTrajectoryPoint(
            positions=[float(x) for x in position],
            velocities=[float(x) for x in velocity],
            accelerations=[0.0] * 2,
        )
        message = JointTrajectory(joint_names=list(NAMES), points=[point])
        message.header.stamp = to_stamp(ns)
        self._references.publish(message)
