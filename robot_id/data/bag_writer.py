"""A rosbag2 recording of joint states, written in blocks of thousands of messages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from robot_id.data import cdr
from robot_id.data.collector import typestore
from robot_id.data.growing_bag import GrowingBag, channel

Array = NDArray[np.float64]

_REFERENCE = ('reference_position', 'reference_velocity', 'reference_acceleration')


class BagWriter:
    """
    Writes /joint_states, and where given /reference and /effort_commands.

    :param path: directory to create; the parent must exist.
    :param joint_names: of the columns.
    :param channels: names of the fields of Run that will be given to `write`.
    """

    def __init__(self, path: Path, joint_names: tuple[str, ...], channels: set[str]) -> None:
        self._path, self._names = path, joint_names
        self._channels = channels

    def __enter__(self) -> BagWriter:
        self._parts = [self._joint_states()]
        if 'reference_position' in self._channels:
            self._parts.append(self._trajectories())
        if 'control' in self._channels:
            self._parts.append(self._commands())
        channels = [channel(topic, kind) for topic, kind, *_ in self._parts]
        self._recording = GrowingBag(self._path, channels)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._recording.close()

    def write(self, rows: Mapping[str, Array], shift: float) -> None:
        """
        Write a block of samples.

        :param rows: time (M,) and the channels (M, n).
        :param shift: seconds added to the time.
        """
        stamps = np.rint((rows['time'] + shift) * 1e9).astype(np.int64)
        tables = []
        for _, _, template, layout, channels in self._parts:
            arrays = [rows[name] if name in self._channels else np.empty(0) for name in channels]
            stamped = 'control' not in channels
            tables.append(cdr.pack(template, layout, stamps, arrays, stamped))
        self._recording.write(
            [
                (number, stamp, table[row].tobytes())
                for row, stamp in enumerate(stamps.tolist())
                for number, table in enumerate(tables)
            ]
        )

    def _joint_states(self):  # type: ignore[no-untyped-def]
        types, zeros = typestore().types, np.zeros(len(self._names))
        empty = np.empty(0)
        message = types['sensor_msgs/msg/JointState'](
            header=self._header(),
            name=list(self._names),
            position=zeros,
            velocity=zeros if 'velocity' in self._channels else empty,
            effort=zeros,
        )
        channels = ('position', 'velocity', 'torque')
        return self._part('/joint_states', message, cdr.joint_state_layout, channels)

    def _trajectories(self):  # type: ignore[no-untyped-def]
        types, zeros = typestore().types, np.zeros(len(self._names))
        filled = [zeros if name in self._channels else np.empty(0) for name in _REFERENCE]
        point = types['trajectory_msgs/msg/JointTrajectoryPoint'](
            positions=filled[0],
            velocities=filled[1],
            accelerations=filled[2],
            effort=np.empty(0),
            time_from_start=types['builtin_interfaces/msg/Duration'](sec=0, nanosec=0),
        )
        message = types['trajectory_msgs/msg/JointTrajectory'](
            header=self._header(), joint_names=list(self._names), points=[point]
        )
        return self._part('/reference', message, cdr.trajectory_layout, (*_REFERENCE, ''))

    def _commands(self):  # type: ignore[no-untyped-def]
        types, n = typestore().types, len(self._names)
        dimension = types['std_msgs/msg/MultiArrayDimension'](
            label=','.join(self._names), size=n, stride=n
        )
        message = types['std_msgs/msg/Float64MultiArray'](
            layout=types['std_msgs/msg/MultiArrayLayout'](dim=[dimension], data_offset=0),
            data=np.zeros(n),
        )
        return self._part('/effort_commands', message, cdr.multi_array_layout, ('control',))

    def _part(self, topic, message, layout, channels):  # type: ignore[no-untyped-def]
        kind = message.__msgtype__
        template = bytes(typestore().serialize_cdr(message, kind))
        return topic, kind, template, layout(template), channels

    def _header(self):  # type: ignore[no-untyped-def]
        types = typestore().types
        return types['std_msgs/msg/Header'](
            stamp=types['builtin_interfaces/msg/Time'](sec=0, nanosec=0), frame_id=''
        )
