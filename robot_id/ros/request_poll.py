"""
Services of a node with a control loop: one request at a time, when the loop has time.

An executor works off every request that has arrived before it looks at the next joint state, so
that many of them at once would stop the loop. These services are not known to the executor; the
node takes one request after each command that it has sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.service import Service
from rclpy.type_support import check_for_type_support

from robot_id.exceptions import RobotIdError
from robot_id.ros.qos import SERVICE
from robot_id.ros.refusal import code_of

PARAMETERS = 'rcl_interfaces.'
Work = Callable[[Any, 'Reply'], None]


class Reply:
    """
    The answer to a request, which may be sent later.

    :ivar response: to be filled; its error_code is SUCCESS unless it is refused.
    """

    def __init__(self, node: Any, service: Any, header: Any) -> None:
        self._node, self._service, self._header = node, service, header
        self.response: Any = service.srv_type.Response()

    def send(self) -> None:
        """Send the response."""
        self._service.send_response(self.response, self._header)

    def refuse(self, code: int, text: str) -> None:
        """Send a refusal and log it."""
        self._node.warning(f'{self._service.srv_name} refused: {text}')
        self.response.error_code, self.response.error_string = code, text
        self.send()


def _unused(request: Any, response: Any) -> Any:
    """Stand in for the callback of a service that no executor knows."""
    raise NotImplementedError


def _answer_with(callback: Callable[[Any, Any], Any]) -> Work:
    """Return the work of a service that answers at once."""

    def work(request: Any, reply: Reply) -> None:
        reply.response = callback(request, reply.response)
        reply.send()

    return work


class RequestPoll:
    """
    The services of a node, in turn.

    :param node: a NodeBase.
    """

    def __init__(self, node: Any) -> None:
        self._node = node
        self._services: deque[tuple[Any, Work]] = deque()
        self._adopted: list[Any] = []

    def serve(self, kind: Any, name: str, work: Work) -> None:
        """
        Offer a service.

        :param work: called with request and `Reply`, which it sends now or later; a RobotIdError
            is sent as a refusal.
        """
        node = self._node
        check_for_type_support(kind)
        with node.handle:
            made = rclpy_implementation.Service(
                node.handle, kind, name, SERVICE.get_c_qos_profile()
            )
        group = node.default_callback_group
        service: Any = Service(made, kind, name, _unused, group, SERVICE)
        self._services.append((service, work))

    def adopt(self) -> None:
        """
        Take the services of the node's parameters from its executor.

        Those of its transitions stay: they keep ten requests only, so that many at once cost
        little, and more of them would be lost if they were asked less often.
        """
        services = self._node._services
        self._adopted = [s for s in services if s.srv_type.__module__.startswith(PARAMETERS)]
        for service in self._adopted:
            services.remove(service)
        self._node._wake_executor()
        for service in self._adopted:
            self._services.append((service, _answer_with(service.callback)))

    def poll(self) -> bool:
        """Answer one request; return whether there was one."""
        for _ in range(len(self._services)):
            service, work = self._services[0]
            self._services.rotate(-1)
            with service.handle:
                request, header = service.handle.service_take_request(service.srv_type.Request)
            if request is not None:
                reply = Reply(self._node, service, header)
                try:
                    work(request, reply)
                except RobotIdError as error:
                    reply.refuse(code_of(error), str(error))
                return True
        return False

    def close(self) -> None:
        """End the services; those of the node go back to its executor."""
        own = [service for service, _ in self._services if service not in self._adopted]
        self._services.clear()
        for service in own:
            service.destroy()
        if self._adopted:
            self._node._services.extend(self._adopted)
            self._node._wake_executor()
            self._adopted = []
