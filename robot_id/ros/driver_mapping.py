"""A mapping applied to the messages of a driver, one at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data import units
from robot_id.data.border import LARGEST, SMALLEST_SCALE
from robot_id.data.io.bags.mapping import check_for_bag
from robot_id.data.joint_side import drive_gains, on_joint_side, per_joint
from robot_id.data.mapping import Channel, Topics, load_mapping
from robot_id.exceptions import DataError, OptionError

Array = NDArray[np.float64]


class Conversion:
    """
    The values of a channel on the joint side in SI units: raw L + offset, (n,).

    :param linear: (n, n) L, None for ones on the diagonal.
    :param offset: (n,)
    """

    def __init__(self, linear: Array | None = None, offset: Array | float = 0.0) -> None:
        self._linear, self._offset = linear, offset

    def __call__(self, raw: Array) -> Array:
        """Return the values of the joints from those of a message."""
        return raw if self._linear is None else raw @ self._linear + self._offset

    def back(self, values: Array) -> Array:
        """Return the values of a message from those of the joints."""
        if self._linear is None:
            return values
        return np.linalg.solve(self._linear.T, values - self._offset)


class DriverMapping:
    """
    Topics, names, signs and units of a robot's driver, from a mapping for bags.

    The mapping that reads a recording of the driver serves while the robot moves, too.

    :param name: a shipped mapping or a file, '' for a driver with our topics, names and units.
    :param joint_names: of the robot.
    :param gains: joint -> joint torque over control signal, of the robot file.
    :ivar topics: relative names.
    :ivar names: the driver's names of the joints, in the robot's order.
    :ivar compensated: torques that the robot adds to a command by itself: gravity, friction.
    :ivar position: its Conversion; `torque` that of the measured effort, `command` of what is
        sent.
    :ivar law: the channel of the torque where it is computed by a PD law, else None.
    """

    def __init__(self, name: str, joint_names: tuple[str, ...], gains: dict[str, float]) -> None:
        self.names = self._joints = joint_names
        self.topics = topics_of(name)
        self.position = self.torque = self.command = Conversion()
        self.compensated: tuple[str, ...] = ()
        self.law: Channel | None = None
        if not name:
            return
        self._where, self._gains = f"mapping '{name}'", gains
        mapping = load_mapping(name)
        check_for_bag(self._where, mapping)
        alias = dict(zip(mapping.called_joints() or (), mapping.recorded_joints() or ()))
        for joint in alias:
            if joint not in joint_names:
                raise OptionError(f"{self._where}: the robot has no joint '{joint}'", joint=joint)
        self.names = tuple(alias.get(joint, joint) for joint in joint_names)
        # The numbers of a channel stand in the order of the mapping, where it names all joints.
        self._order = tuple(alias) if len(alias) == len(joint_names) else joint_names
        channels = mapping.channels()
        if 'control' in channels:
            self.compensated = channels['control'].compensated
        torque = channels.get('torque')
        if torque is not None and torque.law == 'pd':
            self.law = self._in_robot_order(channels.pop('torque'))
        self.position, self.torque, self.command = (
            self._conversion(what, channels.get(what))
            for what in ('position', 'torque', 'control')
        )

    def _in_robot_order(self, law: Channel) -> Channel:
        """Return a law with its gains in the robot's order of joints."""
        place = [self._order.index(joint) for joint in self._joints]
        own = {}
        for key in ('kp', 'kd', 'limit'):
            value = getattr(law, key)
            if isinstance(value, list):
                values = per_joint(value, len(place), f'{self._where}: torque: {key}')
                own[key] = values[place].tolist() if len(values) > 1 else float(values[0])
        return law.model_copy(update=own)

    def _conversion(self, what: str, channel: Channel | None) -> Conversion:
        if channel is None:
            return Conversion()
        where, n = f'{self._where}: {what}', len(self.names)
        if channel.delay:
            raise DataError(f"{where}: 'delay' is for recordings only, not for a running robot")
        if channel.scale is None:
            if what == 'control' and channel.unit in units.SIGNAL:
                raise DataError(f"{where}: in '{channel.unit}' it needs the drive gain as 'scale'")
            scale = np.ones(1)
        elif isinstance(channel.scale, str):
            scale = drive_gains(self._order, self._gains, where)
        else:
            scale = per_joint(channel.scale, n, f'{where}: scale')
        zero, unit = (
            on_joint_side(raw, channel, what, scale, where)
            for raw in (np.zeros((1, n)), np.eye(n))
        )
        linear = unit - zero
        if np.linalg.matrix_rank(linear) < n:
            raise DataError(f'{where}: a joint has the factor zero')
        sizes = np.linalg.svd(linear, compute_uv=False)
        if not (sizes[-1] >= SMALLEST_SCALE and sizes[0] <= LARGEST):
            raise DataError(
                f'{where}: scale, unit and motor_matrix together are factors of {sizes[-1]:g} to '
                f'{sizes[0]:g}, those from {SMALLEST_SCALE:g} to {LARGEST:g} can be used',
                key=what,
                bound=(SMALLEST_SCALE, LARGEST),
            )
        place = [self._order.index(joint) for joint in self._joints]
        return Conversion(np.ascontiguousarray(linear[np.ix_(place, place)]), zero[0, place])


def topics_of(name: str) -> Topics:
    """Return the topics that a mapping names, ours where it names none."""
    return (load_mapping(name).topics if name else None) or Topics()
