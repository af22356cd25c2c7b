"""Shared by all nodes: parameters, diagnostics, logs as events, and a clean end."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from robot_id import interrupts
from robot_id.data.joint_order import OtherJoints
from robot_id.exceptions import OptionError, RobotIdError
from robot_id.ros.diagnostics import Diagnostics
from robot_id.ros.discovery import announce_often
from robot_id.ros.enclave import refusal
from robot_id.ros.parameter_table import (
    MAPPING,
    REAL_TIME_PRIORITY,
    ParameterTable,
    Row,
    guard_parameter_services,
)
from robot_id.ros.real_time import ask_for_real_time, fastest_executor

if TYPE_CHECKING:
    from robot_id.robot import Robot
    from robot_id.ros.driver_mapping import DriverMapping

SPIN_S = 0.05
# After a signal: time for requests to be answered, and for the answers to leave.
FAREWELL_S, LEAVE_S = 2.0, 0.2
# What a compiler does between two lines of Python may take longer than a user waits.
PATIENCE_S = 3.0
# Warnings that begin with the same characters are of one kind.
KIND, QUIET_S = 48, 1.0
SIGNALS = signal.SIGINT, signal.SIGTERM
# The nodes of this process, also those whose building was interrupted.
_begun: list[Any] = []


class NodeBase:
    """
    Mixed into Node or LifecycleNode.

    :ivar settings: the declared parameters, `self.settings['rate_hz']`.
    :ivar diagnostics: reports on /diagnostics.
    :ivar steady: a clock that never stops or jumps, for watchdogs and pacing.
    :ivar refused: messages that were refused; the last reason in `last_refusal`.
    :ivar others: messages with joints of another device.
    :ivar building: whether it reads files and compiles: a signal need not wait for that.
    :ivar unusable: whether its parameters, which it was to start with by itself, were refused.
    """

    settings: ParameterTable
    diagnostics: Diagnostics
    steady: Clock
    refused: int
    last_refusal: str
    others: int
    _requests: set[object]
    building = False
    unusable = False

    def prepare(self: Any, rows: Iterable[Row]) -> None:
        """Declare the parameters and begin to report."""
        _begun.append(self)
        self.steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._warned: dict[str, float] = {}
        self.refused, self.last_refusal, self.others = 0, '', 0
        self._requests: set[object] = set()
        self.settings = ParameterTable(self, rows)
        guard_parameter_services(self)
        self.diagnostics = Diagnostics(self)

    def ask_for_real_time(self) -> None:
        """Request the priority of the parameter real_time_priority, and log what was granted."""
        priority = self.settings[REAL_TIME_PRIORITY.name]
        if priority:
            self._scheduling = ask_for_real_time(priority)
            self.event('real time', permitted=self._scheduling)

    _scheduling = 'as any process'

    def process_values(self: Any) -> dict[str, str]:
        """Return the executor and the scheduling of the process, for the diagnostics."""
        return {'executor': type(self.executor).__name__, 'scheduling': self._scheduling}

    def robot_setting(self: Any) -> Robot:
        """Return the robot that the parameter names, or that of the topic robot_description."""
        # Imported here, so that nodes without a robot start without pinocchio.
        from robot_id.robot import load_robot
        from robot_id.ros.robot_description import TOPIC_ROBOT, robot_of_topic

        name = self.settings['robot']
        if not name:
            raise OptionError('parameter robot is not set: a shipped name such as emps, or a file')
        robot = load_robot(robot_of_topic(self) if name == TOPIC_ROBOT else name)
        self.diagnostics.hardware = robot.name
        return robot

    def driver_setting(self: Any, robot: Robot) -> DriverMapping:
        """Return topics, names and units of the driver, from the parameter `mapping`."""
        from robot_id.ros.driver_mapping import DriverMapping

        return DriverMapping(self.settings[MAPPING.name], robot.joint_names, robot.drive_gains)

    def event(self: Any, what: str, **facts: Any) -> None:
        """Log one line: what happened, and facts as key=value."""
        self.get_logger().info(_line(what, facts))
        self.diagnostics.changed()

    def warning(self: Any, what: str, **facts: Any) -> None:
        """Log one line of warning; of the same kind at most one a second."""
        kind, now = what[:KIND], time.monotonic()
        if now - self._warned.get(kind, -QUIET_S) >= QUIET_S:
            self._warned[kind] = now
            self.get_logger().warning(_line(what, facts))
            self.diagnostics.changed()

    def refuse(self, what: str, error: RobotIdError) -> None:
        """
        Count a message that is not used, and log its reason.

        A gripper has its own joints on the same topic: they are no mistake, and noted once.
        """
        if what == 'joint state' and isinstance(error, OtherJoints):
            if not self.others:
                self.warning(f'joint states of other joints are left out: {error}')
            self.others += 1
            return
        self.refused += 1
        self.last_refusal = f'{what}: {error}'
        self.warning(f'{what} refused: {error}')

    def failure(self: Any, what: str, **facts: Any) -> None:
        """Log one line of error."""
        self.get_logger().error(_line(what, facts))
        self.diagnostics.changed()

    @property
    def answering(self) -> bool:
        """Whether somebody waits for the answer to a request that is being worked on."""
        return bool(self._requests)

    def counted(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        """Return a callback of a service or action whose answer the end of the node waits for."""

        def work(*arguments: Any) -> Any:
            request = object()
            self._requests.add(request)
            try:
                return answer(*arguments)
            finally:
                self._requests.discard(request)

        return work

    def close(self) -> None:
        """Leave everything safe; called once before the node ends, while topics still work."""


def _line(what: str, facts: dict[str, Any]) -> str:
    parts = [f'{key}={value:g}' if isinstance(value, float) else f'{key}={value}'
             for key, value in facts.items()]  # fmt: skip
    return f'{what}: {" ".join(parts)}' if parts else what


def run(*make: Callable[[], Node], executor: Callable[[], Executor] = fastest_executor) -> int:
    """
    Run nodes in one process until Ctrl-C or SIGTERM and return the exit code of the process.

    0 after a signal, 2 when the parameters cannot be used (one line on the log), 1 on a bug.
    Signals are handled here: the node still publishes its last, safe command before the context
    ends.

    :param make: each builds a node.
    :param executor: builds the executor of all of them.
    """
    announce_often()
    name = make[0].__name__
    if not _begin(name):
        return 2
    asked: list[int] = []
    nodes: list[Any] = []

    def ask(number: int, _: object) -> None:
        asked.append(number)
        if len(nodes) < len(make) or any(node.building for node in nodes):
            _end_at_last()
            raise Interrupted

    for number in SIGNALS:
        signal.signal(number, ask)
    interrupts.keep(Interrupted)
    loop = executor()
    code = 0
    try:
        for each in make:
            name = each.__name__
            nodes.append(each())
        for node in nodes:
            loop.add_node(node)
        # Not spin(): in the events executor it runs no callback; and a signal ends a short wait.
        while not asked and not any(node.unusable for node in nodes):
            loop.spin_once(timeout_sec=SPIN_S)
        code = 0 if asked else 2
    except Interrupted:
        pass
    except RobotIdError as error:
        rclpy.logging.get_logger(name).fatal(str(error))
        code = 2
    except Exception as error:
        line = refusal(error)
        rclpy.logging.get_logger(name).fatal(line or traceback.format_exc())
        code = 2 if line else 1
    finally:
        # `ros2 launch` and the terminal both send SIGINT: a second one must not disturb a clean
        # end.
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        _close(nodes, loop)
        for node in reversed(_begun):
            _remove(node, loop)
        _begun.clear()
        loop.shutdown()
        rclpy.try_shutdown()
    return code


def _begin(name: str) -> bool:
    """Initialise ROS 2; where security refuses it, say so and return False."""
    try:
        rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:
        if (line := refusal(error)) is None:
            raise
        rclpy.logging.get_logger(name).fatal(line)
        return False
    return True


def end(code: int) -> NoReturn:
    """
    End the process at once, with what `run` returned.

    Everything is closed by then; a thread that is in the middle of a window or still loads a
    library must not delay Ctrl-C for seconds.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Interrupted(BaseException):
    """A signal came while a node was being built."""


def _end_at_last() -> None:
    """End soon in any case: nothing moves yet, and a compiler may be at work for a minute."""
    last = threading.Timer(PATIENCE_S, os._exit, (0,))
    last.daemon = True
    last.start()


def _close(nodes: list[Any], loop: Executor) -> None:
    """Leave everything safe, and let the answers to what was asked reach who asked."""
    waited_for = [node for node in nodes if node.answering]
    for node in reversed(nodes):
        try:
            node.close()
        except Exception:
            node.get_logger().fatal(traceback.format_exc())
    if not waited_for:
        return
    deadline = time.monotonic() + FAREWELL_S
    while any(node.answering for node in waited_for) and time.monotonic() < deadline:
        loop.spin_once(timeout_sec=SPIN_S)
    deadline = time.monotonic() + LEAVE_S
    while time.monotonic() < deadline:
        loop.spin_once(timeout_sec=SPIN_S)


def _remove(node: Any, loop: Executor) -> None:
    """Take a node off the graph, now rather than when others miss it."""
    loop.remove_node(node)
    # Actions and the lifecycle hold the node: it would stay on the graph for 20 s.
    for waitable in tuple(node.waitables):
        if hasattr(waitable, 'destroy'):
            waitable.destroy()
    node.destroy_node()
    machine = getattr(node, '_state_machine', None)
    if machine is not None:
        machine.destroy_when_not_in_use()
