"""A sampled reference as a rosbag2 recording of trajectory_msgs/JointTrajectory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer

from robot_id.data.collector import typestore
from robot_id.trajectory.reference import Reference

_TYPE = 'trajectory_msgs/msg/JointTrajectory'


def write_reference_bag(
    reference: Reference, path: str | Path, joint_names: Sequence[str]
) -> None:
    """
    Write a new bag directory with two topics.

    /joint_trajectory is one message with all points, for a stock trajectory controller; /reference
    is one message of one point for each sample, for `ros2 bag play` into the controller of this
    package.
    """
    store = typestore()
    # The header of a message for "now" carries no time, and a controller starts at once.
    whole = _message(joint_names, 0, [_point(reference, i, True) for i in range(len(reference))])
    with Writer(Path(path), version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        full = writer.add_connection('/joint_trajectory', _TYPE, typestore=store)
        single = writer.add_connection('/reference', _TYPE, typestore=store)
        writer.write(full, 0, store.serialize_cdr(whole, _TYPE))
        for i, t in enumerate(reference.time):
            stamp = round(float(t) * 1e9)
            message = _message(joint_names, stamp, [_point(reference, i, False)])
            writer.write(single, stamp, store.serialize_cdr(message, _TYPE))


def _message(joint_names: Sequence[str], stamp: int, points: list[Any]) -> Any:
    types = typestore().types
    header = types['std_msgs/msg/Header'](
        stamp=types['builtin_interfaces/msg/Time'](sec=stamp // 10**9, nanosec=stamp % 10**9),
        frame_id='',
    )
    return types[_TYPE](header=header, joint_names=list(joint_names), points=points)


def _point(reference: Reference, i: int, timed: bool) -> Any:
    types = typestore().types
    stamp = round(float(reference.time[i]) * 1e9) if timed else 0
    return types['trajectory_msgs/msg/JointTrajectoryPoint'](
        positions=reference.position[i],
        velocities=reference.velocity[i],
        accelerations=reference.acceleration[i],
        effort=np.empty(0),
        time_from_start=types['builtin_interfaces/msg/Duration'](
            sec=stamp // 10**9, nanosec=stamp % 10**9
        ),
    )
