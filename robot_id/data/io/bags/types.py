"""
The three messages of ROS 2 that a recording of a robot holds: their fields, and their bytes.

No ROS is needed to write them: a definition is a list of fields, and the hash (REP 2011) is that
of the same fields in ROS 2 Jazzy and newer. Tests compare both with the library `rosbags`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.data.io.bags.cdr import Writer
from robot_id.data.io.bags.mcap_writer import Channel

Array = NDArray[np.float64]

JOINT_STATE = 'sensor_msgs/msg/JointState'
TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
MULTI_ARRAY = 'std_msgs/msg/Float64MultiArray'
# Of a joint_trajectory_controller: its fields differ from version to version.
CONTROLLER_STATE = 'control_msgs/msg/JointTrajectoryControllerState'

_TIME = 'int32 sec\nuint32 nanosec\n'
_HEADER = (
    ('std_msgs/Header', 'builtin_interfaces/Time stamp\nstring frame_id\n'),
    ('builtin_interfaces/Time', _TIME),
)
# Fields of each type, the types that they use, and the hash.
_TYPES = {
    JOINT_STATE: (
        'std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n'
        'float64[] effort\n',
        _HEADER,
        'RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e',
    ),
    TRAJECTORY: (
        'std_msgs/Header header\nstring[] joint_names\n'
        'trajectory_msgs/JointTrajectoryPoint[] points\n',
        (
            *_HEADER,
            (
                'trajectory_msgs/JointTrajectoryPoint',
                'float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\n'
                'float64[] effort\nbuiltin_interfaces/Duration time_from_start\n',
            ),
            ('builtin_interfaces/Duration', _TIME),
        ),
        'RIHS01_179b33eba59d676f6d967ac71fe35e7ca2f64b2f3928f4a018cec115e213796e',
    ),
    MULTI_ARRAY: (
        'std_msgs/MultiArrayLayout layout\nfloat64[] data\n',
        (
            ('std_msgs/MultiArrayLayout', 'std_msgs/MultiArrayDimension[] dim\n'
             'uint32 data_offset\n'),
            ('std_msgs/MultiArrayDimension', 'string label\nuint32 size\nuint32 stride\n'),
        ),
        'RIHS01_1025ddc6b9552d191f89ef1a8d2f60f3d373e28b283d8891ddcc974e8c55397f',
    ),
}  # fmt: skip


def channel(topic: str, type_name: str) -> Channel:
    """Return the channel of a topic of one of the three types."""
    fields, used, type_hash = _TYPES[type_name]
    parts = (f'{"=" * 80}\nMSG: {name}\n{text}' for name, text in used)
    return Channel(topic, type_name, ''.join([fields, *parts]), type_hash)


def joint_state(names: Sequence[str], *arrays: Array, stamp_ns: int = 0) -> bytes:
    """
    Return a serialised JointState.

    :param arrays: position, velocity and effort, each (n,) or empty.
    """
    writer = _headed(names, stamp_ns)
    for values in arrays:
        writer.doubles(values)
    return writer.data()


def trajectory(
    names: Sequence[str],
    points: Sequence[Array | list[Array]],
    times_ns: Sequence[int],
    stamp_ns: int = 0,
) -> bytes:
    """
    Return a serialised JointTrajectory.

    :param points: of each point (3, n): positions, velocities, accelerations; each may be empty.
    :param times_ns: of each point, from the start.
    """
    writer = _headed(names, stamp_ns)
    writer.integer(len(points))
    for point, time_ns in zip(points, times_ns):
        for values in point:
            writer.doubles(values)
        writer.doubles(np.empty(0))
        writer.time(time_ns)
    return writer.data()


def multi_array(names: Sequence[str], values: Array) -> bytes:
    """Return a serialised Float64MultiArray of one dimension that names its columns."""
    writer = Writer()
    writer.integer(1)
    writer.string(','.join(names))
    for number in (len(values), len(values), 0):
        writer.integer(number)
    writer.doubles(values)
    return writer.data()


def _headed(names: Sequence[str], stamp_ns: int) -> Writer:
    writer = Writer()
    writer.time(stamp_ns)
    writer.string('')
    writer.integer(len(names))
    for name in names:
        writer.string(name)
    return writer
