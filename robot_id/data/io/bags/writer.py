"""A rosbag2 recording of joint states, written in blocks of thousands of messages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from robot_id.data.io.bags import cdr
from robot_id.data.io.bags import types as bag_types
from robot_id.data.io.bags.growing import GrowingBag

Array = NDArray[np.float64]

# Topic, type, an example, where its numbers are, and the channels that they come from.
Part = tuple[str, str, bytes, cdr.Layout, tuple[str, ...]]
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
        channels = [bag_types.channel(topic, kind) for topic, kind, *_ in self._parts]
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

    def _joint_states(self) -> Part:
        channels = ('position', 'velocity', 'torque')
        zeros = np.zeros(len(self._names))
        velocity = zeros if 'velocity' in self._channels else np.empty(0)
        effort = zeros if 'torque' in self._channels else np.empty(0)
        template = bag_types.joint_state(self._names, zeros, velocity, effort)
        layout = cdr.joint_state_layout(template)
        return '/joint_states', bag_types.JOINT_STATE, template, layout, channels

    def _trajectories(self) -> Part:
        zeros = np.zeros(len(self._names))
        point = [zeros if name in self._channels else np.empty(0) for name in _REFERENCE]
        template = bag_types.trajectory(self._names, [point], [0])
        layout = cdr.trajectory_layout(template)
        return '/reference', bag_types.TRAJECTORY, template, layout, (*_REFERENCE, '')

    def _commands(self) -> Part:
        template = bag_types.multi_array(self._names, np.zeros(len(self._names)))
        layout = cdr.multi_array_layout(template)
        return '/effort_commands', bag_types.MULTI_ARRAY, template, layout, ('control',)
