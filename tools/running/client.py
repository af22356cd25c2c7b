"""The test's own node: calls services and actions of nodes under test, and watches topics."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

# What is waited for comes at once; only a machine that stalls needs so long.
PATIENCE_S = 120.0
CLOSING_S = 10.0


class Client:
    """
    A node in the test's process, with a context of its own, used as a context manager.

    Every method spins the node until it has what it waits for, and fails with a sentence after
    `timeout` seconds.
    """

    def __init__(self, name: str = 'test_client', namespace: str = '') -> None:
        self._context = Context()
        rclpy.init(context=self._context)
        self.node = Node(name, namespace=namespace, context=self._context)
        # Not the events executor: it ends in a crash when an action client is destroyed.
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        # A callback that a time limit of the test cut off never ends.
        self._executor.shutdown(CLOSING_S)
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def spin_until(
        self, done: Callable[[], Any], timeout: float = PATIENCE_S, what: str = ''
    ) -> Any:
        """Spin until `done()` is true and return what it returned."""
        deadline = time.monotonic() + timeout
        while not (value := done()):
            if time.monotonic() > deadline:
                raise AssertionError(f'timeout after {timeout} s: {what or done}')
            self._executor.spin_once(timeout_sec=0.02)
        return value

    def spin_for(self, seconds: float) -> None:
        """Spin for a time, to see what must not happen."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.02)

    def wait_for_node(self, name: str, timeout: float = PATIENCE_S) -> None:
        """Wait until a node of that full name (`/ns/name`) is on the graph."""
        name = '/' + name.strip('/')

        def present() -> bool:
            found = self.node.get_node_names_and_namespaces()
            return any(f'{space.rstrip("/")}/{node}' == name for node, space in found)

        self.spin_until(present, timeout, f'node {name} on the graph')

    def call(self, kind: type, name: str, request: Any = None, timeout: float = PATIENCE_S) -> Any:
        """Wait for a service, call it and return its response."""
        client = self.node.create_client(kind, name)
        try:
            self.spin_until(client.service_is_ready, timeout, f'service {name}')
            future = client.call_async(kind.Request() if request is None else request)
            self.spin_until(future.done, timeout, f'answer of service {name}')
            return future.result()
        finally:
            self.node.destroy_client(client)

    def set_parameters(
        self, node: str, values: dict[str, Any], timeout: float = PATIENCE_S
    ) -> list[Any]:
        """Set parameters of a running node and return its verdict on each."""
        from rcl_interfaces.srv import SetParameters

        request = SetParameters.Request()
        request.parameters = [
            Parameter(key, value=value).to_parameter_msg() for key, value in values.items()
        ]
        return self.call(SetParameters, f'{node}/set_parameters', request, timeout).results

    def change_state(self, node: str, transition: int, timeout: float = PATIENCE_S) -> bool:
        """Ask a lifecycle node for a transition (lifecycle_msgs/Transition.TRANSITION_...)."""
        from lifecycle_msgs.srv import ChangeState

        request = ChangeState.Request()
        request.transition.id = transition
        return self.call(ChangeState, f'{node}/change_state', request, timeout).success

    def send_goal(self, kind: type, name: str, goal: Any, timeout: float = PATIENCE_S) -> Goal:
        """Wait for an action server, send a goal and return its handle, accepted or not."""
        client = ActionClient(self.node, kind, name)
        self.spin_until(client.server_is_ready, timeout, f'action {name}')
        feedback: list[Any] = []
        future = client.send_goal_async(goal, lambda message: feedback.append(message.feedback))
        self.spin_until(future.done, timeout, f'answer of action {name} to the goal')
        return Goal(self, client, future.result(), feedback)

    def collect(self, kind: type, topic: str, qos: Any = 10) -> list[Any]:
        """Subscribe and return the list that messages are appended to while the client spins."""
        messages: list[Any] = []
        self.node.create_subscription(kind, topic, messages.append, qos)
        return messages


class Goal:
    """
    A goal that was sent.

    :param accepted: what the server said.
    :param feedback: all feedback so far, oldest first.
    """

    def __init__(self, owner: Client, client: ActionClient, handle: Any, feedback: list) -> None:
        self._owner = owner
        self._client = client
        self._handle = handle
        self.accepted: bool = handle.accepted
        self.feedback = feedback

    def cancel(self, timeout: float = PATIENCE_S) -> bool:
        """Ask to cancel and tell whether the server agreed."""
        future = self._handle.cancel_goal_async()
        self._owner.spin_until(future.done, timeout, 'answer to cancel')
        return bool(future.result().goals_canceling)

    def result(self, timeout: float = PATIENCE_S) -> tuple[int, Any]:
        """Wait for the end; return the status (action_msgs/GoalStatus) and the result."""
        future = self._handle.get_result_async()
        self._owner.spin_until(future.done, timeout, 'result of the goal')
        answer = future.result()
        self._client.destroy()
        return answer.status, answer.result
