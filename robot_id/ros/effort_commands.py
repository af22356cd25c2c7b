"""
Effort commands on the wire: std_msgs/Float64MultiArray, as a forward effort controller takes them.

`data` has one torque per joint. The label of the (last) dimension names the columns, 'a,b,c', so a
reader that looks can match them by name; one that does not takes the order of its parameter. In
lock-step a last column 'stamp' gives the stamp of the state that the torques answer, in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from robot_id.data.joint_order import JointMatcher
from robot_id.exceptions import DataError
from robot_id.ros.driver_mapping import Conversion
from robot_id.ros.wire import EFFORTS, Layout

Array = NDArray[np.float64]
STAMP = 'stamp'
# Our name of the topic, where a mapping names none.
COMMANDS = 'effort_commands'


class CommandWriter:
    """
    Builds the messages.

    :param joint_names: of the robot, as its driver calls them.
    :param order: where each joint of the robot stands in the message.
    :param stamped: whether the column 'stamp' is sent.
    :param convert: from the driver's signs and units to ours.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        order: Sequence[int],
        stamped: bool,
        convert: Conversion | None = None,
    ) -> None:
        self._back = (convert or Conversion()).back
        self._place = np.argsort(order)
        self._stamped = stamped
        names = [joint_names[i] for i in self._place] + [STAMP] * stamped
        n = len(names)
        message = Float64MultiArray(data=[0.0] * n)
        message.layout.dim = [MultiArrayDimension(label=','.join(names), size=n, stride=n)]
        self._layout = Layout(message, EFFORTS)
        self._data = np.empty(n)

    def write(self, torque: Array, stamp_ns: int) -> bytes:
        """Return the serialised message with torques (n,) in the robot's order."""
        torque = self._back(torque)
        if self._stamped:
            self._data[:-1] = torque[self._place]
            self._data[-1] = stamp_ns / 1e9
        else:
            self._data[:] = torque[self._place]
        return self._layout.write(stamp_ns, self._data)


class CommandReader:
    """
    Reads the messages, ours and those of others.

    :param joint_names: of the robot.
    :param order: where each joint stands in a message without names.
    """

    def __init__(self, joint_names: Sequence[str], order: Sequence[int]) -> None:
        self._names = tuple(joint_names)
        self._order = list(order)
        self._matcher = JointMatcher(self._names)
        self._label: str | None = None
        self._columns: list[str] = []

    def read(self, message: Float64MultiArray) -> tuple[Array, float | None]:
        """
        Return torques (n,) in the robot's order, and the stamp in ns that they answer.

        :raises DataError: on a wrong number of values, unknown joints or a value not finite.
        """
        dimensions = message.layout.dim
        label = dimensions[-1].label if dimensions else ''
        if label != self._label:
            columns = label.split(',')
            self._columns = columns if set(self._names) <= set(columns) else []
            self._label = label
        if self._columns:
            self._matcher.match(self._columns)
            torque = self._matcher.take(message.data, 'effort command')
            if self._columns[-1] == STAMP:
                return torque, 1e9 * message.data[-1]
            return torque, None
        if len(message.data) != len(self._names):
            raise DataError(f'{len(message.data)} values for {len(self._names)} joints')
        torque = np.array(message.data)[self._order]
        if not np.all(np.isfinite(torque)):
            joint = self._names[int(np.flatnonzero(~np.isfinite(torque))[0])]
            raise DataError(f"effort command of joint '{joint}' is not finite", joint=joint)
        return torque, None
