"""What stops the running `ctc_controller`: its rate at the start, violations, and their reset."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from std_srvs.srv import Trigger

from robot_id.control import ComputedTorque
from robot_id.control.learning.beside_loop import Learning
from robot_id.control.runtime.torque_control import Mode, TorqueControl
from robot_id.control.supervision.loop_margin import check_rate
from robot_id.control.supervision.start_rate import StartRate
from robot_id.control.supervision.supervisor import Kind, Trip
from robot_id.ros.lifecycle import RobotLifecycleNode
from robot_id.ros.parameter_table import ParameterTable
from robot_id.ros.qos import SERVICE


def supervised(
    controller: ComputedTorque, settings: ParameterTable, carried: bool
) -> TorqueControl:
    """
    Return the control of a robot with the supervision that the parameters ask for, compiled.

    :param carried: the robot compensates its gravity, as the mapping says.
    :raises ControlError: on gains that the rate cannot carry.
    """
    s, robot = settings, controller.robot
    check_rate(robot, controller.loop, s['torque_delay_s'])
    control = TorqueControl(
        controller, s['reference_timeout_s'], s['state_timeout_s'], s['largest_error'],
        # A simulator in lock-step is what the robot file says.
        soft_start_s=0.0 if s['lock_step'] else s['soft_start_s'],
        start_share=s['start_torque_share'], saturation_s=s['saturation_s'],
        applied=not s['dry_run'], carried=carried,
    )  # fmt: skip
    # Compiled before the first real sample.
    control.step(0, np.zeros(robot.n), np.zeros(robot.n))
    control.restart()
    return control


class Supervision:
    """
    Tells of a violation once, and keeps the robot stopped until a person resets it.

    :param node: the lifecycle node, which owns the service `~/reset`.
    :param control: the law and its supervisor.
    :param learning: forgets its window when the robot is stopped.
    """

    def __init__(
        self, node: RobotLifecycleNode, control: TorqueControl, learning: Learning
    ) -> None:
        self._node, self._control, self._learning = node, control, learning
        # Where the start is soft, the rate is measured before the first torque.
        soft, rate_hz = control.supervisor.soft_start_s, control.controller.loop.rate_hz
        self._rate = StartRate(rate_hz) if soft else None
        self._told = False
        service = node.create_service(Trigger, '~/reset', self._reset, qos_profile=SERVICE)
        node.track(node.destroy_service, service)

    def begin(self) -> None:
        """Forget a violation: the rate is measured and the start is soft again."""
        self._control.restart()
        self._told = False
        if self._rate is not None:
            self._rate.restart()

    def admits(self, ns: int) -> bool:
        """Whether a joint state is answered: not before its rate was seen to be the one given."""
        rate, control = self._rate, self._control
        if rate is None or rate.seen_hz or control.stopped:
            return True
        if not rate.feed(ns):
            return False
        if rate.jitter:
            self._node.warning(rate.jitter)
        if not rate.right:
            joint = control.controller.robot.joint_names[0]
            control.refuse(Trip(Kind.RATE, joint, rate.seen_hz, rate.wanted_hz))
            self.publish()
        return True

    def changed(self, before: Mode) -> None:
        """Log that the controller does something else now."""
        mode = self._control.mode
        if self._control.stopped:
            self.publish()
        elif mode is Mode.BRAKING:
            self._node.warning(mode.value)
        else:
            self._node.event(mode.value, before=before.name.lower())

    def publish(self) -> None:
        """Log the violation once, and report it at once."""
        if not self._told:
            self._told = True
            self._control.explain()
            self._node.failure(f'{self._control.mode.value}: {self._control.reason}')
            self._learning.ilic.clear()
        self._node.diagnostics.publish()

    def values(self) -> dict[str, Any]:
        """Return what the diagnostics show."""
        control, trip = self._control, self._control.trip
        supervisor = control.supervisor
        starting = supervisor.starting if self._rate else np.zeros_like(supervisor.agreed)
        values: dict[str, Any] = {
            'seen_rate_hz': self._rate.seen_hz if self._rate else 0.0,
            'stamp_jitter_s': self._rate.jitter_s if self._rate else 0.0,
            'measured_velocity': self._names(control.velocity.used),
            'soft_start': self._names(starting),
            'violation': 'none',
        }
        if trip is not None:
            values |= {
                'violation': trip.kind.name.lower(),
                'joint': trip.joint,
                'value': trip.value,
                'bound': trip.bound,
                'mistake': trip.mistake,
            }
        return values

    def _names(self, which: NDArray[np.bool_]) -> str:
        names = self._control.controller.robot.joint_names
        return ','.join(name for name, true in zip(names, which) if true) or 'none'

    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Let the robot move again after a violation."""
        trip, active = self._control.trip, self._node.active
        response.success = active and trip is not None
        if trip is None or not active:
            response.message = 'nothing to reset' if active else 'the controller is inactive'
            return response
        response.message = f'was stopped: {trip.text}'
        self._node.event(f'reset: {response.message}')
        self.begin()
        self._node.diagnostics.publish()
        return response
