"""A sampled reference as a rosbag2 recording of trajectory_msgs/JointTrajectory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_id.data.io.bags import types as bag_types
from robot_id.data.io.bags.growing import GrowingBag
from robot_id.trajectory.reference import Reference


def write_reference_bag(
    reference: Reference, path: str | Path, joint_names: Sequence[str]
) -> None:
    """
    Write a new bag directory with two topics.

    /joint_trajectory is one message with all points, for a stock trajectory controller; /reference
    is one message of one point for each sample, for `ros2 bag play` into the controller of this
    package.
    """
    points = np.stack([reference.position, reference.velocity, reference.acceleration], axis=1)
    stamps = np.rint(np.asarray(reference.time) * 1e9).astype(np.int64).tolist()
    # The header of a message for "now" carries no time, and a controller starts at once.
    whole = bag_types.trajectory(joint_names, list(points), stamps)
    single = [
        (1, stamp, bag_types.trajectory(joint_names, [point], [0], stamp))
        for stamp, point in zip(stamps, points)
    ]
    topics = '/joint_trajectory', '/reference'
    bag = GrowingBag(Path(path), [bag_types.channel(t, bag_types.TRAJECTORY) for t in topics])
    try:
        bag.write([(0, 0, whole), *single])
    finally:
        bag.close()
