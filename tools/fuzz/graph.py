"""
Every node in this process, unspun: messages and requests go straight into its callbacks.

A node keeps what it was told, so a case may depend on the cases before it in the same worker; each
begins with the node reset as far as its own services can do that.
"""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_id.nodes.ctc_controller import CtcController
from robot_id.nodes.data_logger import DataLogger
from robot_id.nodes.ddm_simulator import DdmSimulator
from robot_id.nodes.identification_server import IdentificationServer
from robot_id.nodes.online_identifier import OnlineIdentifierNode
from robot_id.nodes.trajectory_generator import TrajectoryGenerator
from tools.fuzz import mutate
from tools.fuzz.messages import hostile
from tools.isolated import private_domain

NODES = (
    DdmSimulator, CtcController, TrajectoryGenerator, DataLogger, IdentificationServer,
    OnlineIdentifierNode,
)  # fmt: skip
PARAMETERS: dict[str, dict[str, Any]] = {
    'ddm_simulator': {}, 'ctc_controller': {'rate_hz': 1000.0}, 'trajectory_generator': {},
    'data_logger': {'minimum_free_mb': 0.0}, 'online_identifier': {'rate_hz': 1000.0},
    # A request that can be served is given up soon.
    'identification_server': {'service_time_limit_s': 1.0},
}  # fmt: skip
# They end the node, or would have to wait for another one.
LEFT_OUT = ('change_state', '_action/')
MESSAGES = 12


class Graph:
    """
    All nodes of the EMPS.

    :param folder: data directory.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        words = ['--ros-args', '--log-level', 'fatal']
        for name, values in PARAMETERS.items():
            for key, value in {'robot': 'emps', 'data_directory': folder, **values}.items():
                words += ['-p', f'{name}:{key}:={value}']
        rclpy.init(args=words)
        self.nodes = []
        for kind in NODES:
            node = kind()
            if hasattr(node, 'trigger_configure'):
                node.trigger_configure()
                node.trigger_activate()
            self.nodes.append(node)
        self._time = 0

    def run(self, draw: random.Random) -> str:
        """Give some messages and requests to one node, and return its name."""
        node = draw.choice(self.nodes)
        if isinstance(node, (DdmSimulator, CtcController)):
            node.deactivate()
            node.activate()
        for _ in range(draw.randint(1, MESSAGES)):
            heard, services = list(node.subscriptions), _services(node)
            if heard and draw.random() < 0.75:
                self._tell(draw.choice(heard), draw)
            elif services:
                service = draw.choice(services)
                request = hostile(service.srv_type.Request, draw)
                service.callback(request, service.srv_type.Response())
            if draw.random() < 0.3:
                for timer in list(node.timers):
                    timer.callback()
        check(node)
        return node.get_name()

    def _tell(self, subscription: Any, draw: random.Random) -> None:
        kind = subscription.msg_type
        self._time += draw.choice((0, 1, 1, 1, 1, 5, 1000))
        sound = self._sound(kind)
        kept = sound is not None and draw.random() < 0.3
        message = sound if kept else hostile(kind, draw, sound)
        if not subscription.raw:
            subscription.callback(message)
            return
        raw = serialize_message(message)
        subscription.callback(mutate.damage(raw, draw) if draw.random() < 0.3 else raw)

    def _sound(self, kind: type) -> Any:
        """Return the message that the robot would send next."""
        t = 1e-3 * self._time
        position, velocity = [0.1 * np.sin(t)], [0.1 * np.cos(t)]
        if kind is JointState:
            message = JointState(name=['carriage'], position=position, velocity=velocity)
            message.effort = [1.0]
        elif kind is JointTrajectory:
            message = JointTrajectory(joint_names=['carriage'])
            message.points = [JointTrajectoryPoint(positions=position, velocities=velocity)]
            message.points[0].accelerations = [0.0]
        elif kind is Float64MultiArray:
            return Float64MultiArray(data=[1.0])
        else:
            return None
        stamp = message.header.stamp
        stamp.sec, stamp.nanosec = divmod(self._time * 1_000_000, 10**9)
        return message

    def close(self) -> None:
        """End all nodes."""
        for node in self.nodes:
            with contextlib.suppress(Exception):
                node.close()
            node.destroy_node()
        rclpy.try_shutdown()


def _services(node: Any) -> list[Any]:
    return [each for each in node.services if not any(part in each.srv_name for part in LEFT_OUT)]


def check(node: Any) -> None:
    """Refuse numbers that are none in what a node would do next."""
    if isinstance(node, CtcController) and node._answered is not None:
        _finite(node._answered[1], 'a torque of the controller')
    if isinstance(node, DdmSimulator) and not node._failed:
        _finite(node._robot.plant.position, 'a position of the simulator')
    if isinstance(node, OnlineIdentifierNode) and node._identifier is not None:
        _finite(node._identifier.estimate, 'an estimate of the on-line identifier')


def _finite(values: Any, what: str) -> None:
    if not np.isfinite(values).all():
        raise AssertionError(f'{what} is not finite')


@contextlib.contextmanager
def own_domain() -> Iterator[None]:
    """Keep the nodes of this process to themselves."""
    with private_domain() as domain:
        os.environ['ROS_DOMAIN_ID'] = str(domain)
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        yield
