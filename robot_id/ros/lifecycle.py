"""A lifecycle node whose transitions answer a user's mistake with one line."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rclpy._rclpy_pybind11 import RCLError
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from robot_id.exceptions import RobotIdError
from robot_id.ros.base import Interrupted, NodeBase
from robot_id.ros.driver_mapping import DriverMapping
from robot_id.ros.joint_states import JointStates, OnPosition
from robot_id.ros.listener import Listener, hear
from robot_id.ros.parameter_table import AUTOSTART, ROBOT, Row
from robot_id.ros.qos import SERVICE
from robot_id.ros.refusal import as_request, code_of

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class RobotLifecycleNode(NodeBase, LifecycleNode):
    """
    Base of the nodes that can move a robot.

    A subclass defines `configure`, and may define `activate`, `deactivate` and `cleanup`; each may
    raise a RobotIdError, which is logged and makes the transition fail.

    :ivar active: whether the node is in the state active.
    """

    def __init__(self, name: str, rows: Iterable[Row]) -> None:
        super().__init__(name)
        self.active = False
        self.configured = False
        self._owned: list[tuple[Callable[[Any], Any], Any]] = []
        self._guard_transitions()
        self.prepare((ROBOT, AUTOSTART, *rows))
        if self.settings['autostart']:
            self._starter = self.create_timer(0.0, self._start_alone, clock=self.steady)
        self.event('ready', node=self.get_fully_qualified_name())

    def publisher(self, kind: type, topic: str, qos: Any, always: bool = False) -> Any:
        """
        Return a publisher that lives until clean-up.

        :param always: publishes in every state, not only when active.
        """
        make = self.create_publisher if always else self.create_lifecycle_publisher
        return self.track(self.destroy_publisher, make(kind, topic, qos))

    def listen(
        self, kind: type, topic: str, callback: Callable[[Any], None], arrays: Sequence[str]
    ) -> Listener:
        """
        Hear a topic until clean-up.

        :param arrays: see `wire.Stream`; the callback must not keep the message.
        """
        return self.track(Listener.close, hear(self, kind, topic, callback, arrays))

    def listen_to_robot(
        self, driver: DriverMapping, on_position: OnPosition, period_ns: int
    ) -> JointStates:
        """Hear the joint states until clean-up, see `JointStates`."""
        made = JointStates(self, driver, on_position, period_ns)
        return self.track(JointStates.close, made)

    def serve(self, kind: type, name: str, work: Callable[[Any, Any], None]) -> None:
        """
        Offer a service until clean-up.

        :param work: fills the response; a RobotIdError becomes its error_code and error_string.
        """

        def answer(request: Any, response: Any) -> Any:
            try:
                work(request, response)
            except RobotIdError as error:
                self.warning(f'{name} refused: {error}')
                response.error_code = code_of(error)
                response.error_string = as_request(str(error))
            return response

        made = self.create_service(kind, name, answer, qos_profile=SERVICE)
        self.track(self.destroy_service, made)

    def _guard_transitions(self) -> None:
        """Refuse a transition that the present state does not have; rclpy alone would raise."""
        service = self._service_change_state
        change = service.callback

        def guarded(request: Any, response: Any) -> Any:
            try:
                return change(request, response)
            except RCLError:
                state = self._state_machine.current_state[1]
                self.warning(f'no transition {request.transition.id} in the state {state}')
                response.success = False
                return response

        service.callback = guarded

    def track(self, destroy: Callable[[Any], Any], made: Any) -> Any:
        """Return what was made, which clean-up will destroy."""
        self._owned.append((destroy, made))
        return made

    def configure(self) -> None:
        """Read the parameters and build everything."""

    def activate(self) -> None:
        """Start working."""

    def deactivate(self) -> None:
        """Stop safely."""

    def cleanup(self) -> None:
        """Release what `configure` built."""

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition."""
        self.building = True
        try:
            done = self._try('configure', self.configure)
        except Interrupted:
            # The process ends anyway.
            done = FAILURE
        finally:
            self.building = False
        if done is SUCCESS:
            self.configured = self.settings.locked = True
        else:
            self._release()
        return done

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition."""
        super().on_activate(state)
        self.active = True
        done = self._try('activate', self.activate)
        if done is not SUCCESS:
            self.active = False
            super().on_deactivate(state)
        # Objects that exist now stay: the garbage collector need not scan them while the robot
        # moves.
        gc.collect()
        gc.freeze()
        return done

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition."""
        done = self._try('deactivate', self.deactivate)
        self.active = False
        super().on_deactivate(state)
        return done

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition."""
        self.configured = self.settings.locked = False
        return self._try('clean up', self._release)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer the transition."""
        if self.active:
            self.on_deactivate(state)
        return SUCCESS

    def close(self) -> None:
        """Stop safely before the process ends."""
        if self.active:
            self._try('deactivate', self.deactivate)
            self.active = False

    def _release(self) -> None:
        self.diagnostics.clear()
        for destroy, made in self._owned:
            self._managed_entities.discard(made)
            destroy(made)
        self._owned = []
        self.cleanup()

    def _try(self, what: str, work: Callable[[], None]) -> TransitionCallbackReturn:
        try:
            work()
        except RobotIdError as error:
            self.failure(f'cannot {what}: {error}')
            return FAILURE
        self.event(what, node=self.get_name())
        return SUCCESS

    def _start_alone(self) -> None:
        self._starter.cancel()
        if self.trigger_configure() is SUCCESS:
            self.trigger_activate()
        else:
            # Nobody else will configure it; an activation may be tried again.
            self.unusable = True
