"""
The robot of the topic `robot_description`: its URDF in a file, for all that take a robot by name.

`python -m robot_id.ros.robot_description FILE.urdf --ros-args ...` writes it for other programs.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String

from robot_id import files, user_cache
from robot_id.exceptions import DescriptionError, RobotIdError
from robot_id.ros.qos import LATCHED

# Name of a robot that stands for the topic.
TOPIC_ROBOT = 'topic'
TOPIC = 'robot_description'
WAIT_S = 10.0


def description_of(node: Any, wait_s: float = WAIT_S) -> str:
    """
    Return the text of the URDF that robot_state_publisher tells.

    :param node: with whose namespace and remappings the topic is heard; it must not be spinning.
    :raises DescriptionError: where nobody tells it in time.
    """
    heard: list[str] = []
    subscription = node.create_subscription(
        String, TOPIC, lambda message: heard.append(message.data), LATCHED
    )
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    deadline = time.monotonic() + wait_s
    try:
        while not heard and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.05)
    finally:
        executor.remove_node(node)
        executor.shutdown()
        topic = subscription.topic_name
        node.destroy_subscription(subscription)
    if not heard or not heard[-1].strip():
        raise DescriptionError(
            f'robot: nothing on {topic} within {wait_s:g} s: start robot_state_publisher, or name '
            'a robot file or URDF',
            code='no_robot',
        )
    return heard[-1]


def robot_of_topic(node: Any) -> Path:
    """Return a file of the URDF on the topic, named by its content."""
    text = description_of(node)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    folder = user_cache.folder() / 'robot_description'
    folder.mkdir(exist_ok=True)
    path = folder / f'robot_{name}.urdf'
    files.write_text(path, text)
    return path


def main() -> None:
    """Write the URDF to a file; the exit code is 2 where there is none."""
    rclpy.init(args=sys.argv)
    node = rclpy.create_node('robot_description_reader')
    try:
        files.write_text(Path(sys.argv[1]), description_of(node))
    except RobotIdError as error:
        node.get_logger().fatal(str(error))
        sys.exit(2)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == '__main__':
    main()
