"""The parameters of a node as one table: type, default, range, choices, description."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterUninitializedException,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from robot_id import renamed
from robot_id.exceptions import OptionError, did_you_mean

_TYPES = {
    bool: Parameter.Type.BOOL,
    int: Parameter.Type.INTEGER,
    float: Parameter.Type.DOUBLE,
    str: Parameter.Type.STRING,
}
_ARRAYS = {
    float: Parameter.Type.DOUBLE_ARRAY,
    str: Parameter.Type.STRING_ARRAY,
}

# Letters of a name in which two slips are still slips.
LONG = 12


@dataclass(frozen=True)
class Row:
    """
    One parameter.

    :param default: its value if none is given; its type is the type of the parameter.
    :param description: one line with the unit.
    :param lower: smallest value of a number; `upper` the largest.
    :param choices: the texts that are allowed; () allows any.
    :param live: whether a running node accepts a change; otherwise it is refused while running.
    :param items: type of the items where the default is an empty list.
    """

    name: str
    default: Any
    description: str
    lower: float = -math.inf
    upper: float = math.inf
    choices: tuple[str, ...] = ()
    live: bool = False
    items: type = float

    @property
    def type(self) -> Parameter.Type:
        """The ROS type."""
        if isinstance(self.default, list):
            return _ARRAYS[self.items]
        return _TYPES[type(self.default)]

    def descriptor(self) -> ParameterDescriptor:
        """Return what `ros2 param describe` shows."""
        more = f' One of: {", ".join(self.choices)}.' if self.choices else ''
        more += '' if self.live else ' Takes effect when the node is configured or started again.'
        found = ParameterDescriptor(
            name=self.name, type=self.type.value, description=self.description + more
        )
        if math.isfinite(self.lower) or math.isfinite(self.upper):
            if self.type is Parameter.Type.DOUBLE:
                found.floating_point_range = [
                    FloatingPointRange(
                        from_value=max(self.lower, -1e308), to_value=min(self.upper, 1e308)
                    )
                ]
            elif self.type is Parameter.Type.INTEGER:
                found.integer_range = [
                    IntegerRange(
                        from_value=int(max(self.lower, -(2**31))),
                        to_value=int(min(self.upper, 2**31)),
                    )
                ]
        return found

    def markdown(self) -> str:
        """Return the line of the parameter in the page of its node."""
        default = str(self.default)
        if isinstance(self.default, bool):
            default = default.lower()
        allowed = ', '.join(self.choices)
        if math.isfinite(self.upper):
            allowed = f'{self.lower:g} to {self.upper:g}'
        cells = f'`{self.name}`', default or "''", allowed, self.description
        return f'| {" | ".join(cells)} |'

    def objection(self, value: Any) -> str:
        """Return why a value is refused, '' when it is fine."""
        if self.choices and value not in self.choices:
            said = did_you_mean(str(value), self.choices)
            return f"{self.name}: '{value}' is not a choice, {said}"
        if isinstance(value, float) and not math.isfinite(value):
            return f'{self.name}: {value} is not finite'
        return ''


ROBOT = Row(
    'robot', '', 'Robot: a shipped name, the path of a robot file or URDF, or `topic` for the '
    'topic robot_description.'
)  # fmt: skip
MAPPING = Row(
    'mapping', '', "Topics, joint names, signs and units of the robot's driver: a shipped mapping "
    'or a file; empty: as in the robot file, in SI units.'
)  # fmt: skip
REAL_TIME_PRIORITY = Row(
    'real_time_priority', 0, 'Priority of SCHED_FIFO for the process, with its memory locked; 0: '
    'none.', 0, 98
)  # fmt: skip
AUTOSTART = Row(
    'autostart',
    False,
    'Configure and activate at start, without a lifecycle manager; the process '
    'ends with exit code 2 where its parameters are refused.',
)


class ParameterTable:
    """
    The declared parameters of one node.

    Overrides of the wrong type or out of range, and names that look misspelt, end in an
    OptionError with one line.

    :param node: the node that gets them.
    :param rows: the table.
    """

    def __init__(self, node: Node, rows: Iterable[Row]) -> None:
        self._node = node
        self._rows = {row.name: row for row in rows}
        # Set while a change of a row that is not live would come too late.
        self.locked = False
        for row in self._rows.values():
            self._declare(row)
        node.add_on_set_parameters_callback(self._check)
        self._look_for_slips()

    def __getitem__(self, name: str) -> Any:
        row = self._rows[name]
        try:
            value = self._node.get_parameter(name).value
        except ParameterUninitializedException:
            return []
        return list(value) if isinstance(row.default, list) else value

    def _declare(self, row: Row) -> None:
        # An empty list has no type of its own: declared by type, it has no value yet.
        empty = row.default == []
        given = self._node._parameter_overrides.get(row.name)
        if empty and given is not None and given.value is not None and len(given.value) == 0:
            del self._node._parameter_overrides[row.name]
        try:
            value = self._node.declare_parameter(
                row.name, row.type if empty else row.default, row.descriptor()
            ).value
            if empty and value is None:
                # One parameter without a value keeps `ros2 param dump` from showing any.
                self._node.set_parameters([Parameter(row.name, row.type, [])])
        except InvalidParameterTypeException as error:
            given = self._node._parameter_overrides[row.name]
            raise OptionError(
                f'parameter {row.name}: {given.value!r} has the wrong type, expected '
                f'{row.type.name.lower()} such as {row.default!r}'
            ) from error
        except InvalidParameterValueException as error:
            given = self._node._parameter_overrides[row.name]
            raise OptionError(
                f'parameter {row.name}: {given.value!r} is outside [{row.lower:g}, {row.upper:g}]'
            ) from error
        objection = row.objection(value)
        if objection:
            raise OptionError(f'parameter {objection}')

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            row = self._rows.get(parameter.name)
            if row is None:
                continue
            reason = row.objection(parameter.value)
            if not reason and self.locked and not row.live:
                reason = f'{row.name} cannot change while the node runs: stop or clean it up first'
            if reason:
                return SetParametersResult(successful=False, reason=reason)
        return SetParametersResult(successful=True)

    def _look_for_slips(self) -> None:
        for name in self._node._parameter_overrides:
            if self._node.has_parameter(name):
                continue
            if said := renamed.hint(name, self._rows):
                raise OptionError(f"no parameter '{name}': {said}", key=name)
            near = [known for known in self._rows if is_slip(name, known)]
            if near:
                raise OptionError(
                    f"no parameter '{name}': did you mean '{near[0]}'? One of another node "
                    'belongs into the section of that node'
                )


def is_slip(given: str, known: str) -> bool:
    """
    Return whether a name was meant to be a known one: a slip of the fingers, two in a long name.

    The names of other nodes, in a file that several share, are further away.
    """
    return 0 < edits(given, known) <= (1 if len(known) < LONG else 2)


def edits(one: str, other: str) -> int:
    """Return how many letters were left out, added, changed or swapped between two words."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def guard_parameter_services(node: Node) -> None:
    """Refuse requests with a type of parameter that ROS does not have; rclpy alone would raise."""

    def guarded(work: Any, kind: Any) -> Any:
        def answer(request: Any, response: Any) -> Any:
            try:
                return work(request, response)
            except ValueError as error:
                refused = SetParametersResult(successful=False, reason=str(error)[:200])
                if kind is SetParameters:
                    response.results = [refused] * len(request.parameters)
                else:
                    response.result = refused
                return response

        return answer

    for service in node.services:
        if service.srv_type in (SetParameters, SetParametersAtomically):
            service.callback = guarded(service.callback, service.srv_type)
