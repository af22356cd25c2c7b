"""What the running `ctc_controller` carries: set by a service, or noticed and held back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.control import Update
from robot_id.exceptions import OptionError
from robot_id.model import Robot, payload_parameters
from robot_id.ros.payload_message import payload_of, running_message
from robot_id.ros.qos import LATCHED
from robot_id.ros.stamps import to_stamp
from robot_id_msgs.msg import PayloadEstimate
from robot_id_msgs.srv import SetPayload

Array = NDArray[np.float64]


class CarriedLoad:
    """
    Knows the load that the model of a controller has.

    A load that the learner finds beside it is published and logged. The model takes it over if it
    differs by at most `payload_bound_kg`, and else once `~/set_payload` has confirmed it.

    :param node: the lifecycle node.
    :param use: called with (b,) change of the parameters and the time to take it over [s].
    """

    def __init__(self, node: Any, robot: Robot, use: Any) -> None:
        self._node, self._robot, self._use = node, robot, use
        self._change, self._mass = np.zeros(len(robot.base)), 0.0
        self._reported: float | None = None
        self.held = 0
        self._publisher = node.tell(PayloadEstimate, '~/payload', LATCHED, always=True)
        node.serve(SetPayload, '~/set_payload', self._set)

    def admits(self, update: Update, ns: int) -> bool:
        """Tell whether an update may be taken over; publish the load it speaks of."""
        load = update.payload
        if load is None or load.mass is None:
            return True
        frame = self._robot.joint_names[-1]
        self._publisher.publish(running_message(load, self._robot.name, frame, to_stamp(ns)))
        apart = abs(load.mass - self._mass)
        if apart <= max(self._node.settings['payload_bound_kg'], 3.0 * load.deviation):
            self._reported = None
            return True
        self.held += 1
        if self._reported is None or abs(load.mass - self._reported) > 3.0 * load.deviation:
            self._reported = load.mass
            self._node.warning(
                f'the load has changed from {self._mass:.3g} kg, {load}: the model waits for '
                '~/set_payload, or a larger payload_bound_kg'
            )
        return False

    def _set(self, request: SetPayload.Request, _: SetPayload.Response) -> None:
        blend = request.blend_s or self._node.settings['blend_s']
        if not (np.isfinite(blend) and blend >= 0.0):
            raise OptionError(f'blend_s must be 0 s or more, got {blend}')
        payload = payload_of(request.inertia)
        change = np.zeros_like(self._change)
        if payload is not None:
            change = payload_parameters(self._robot, payload, request.link or None)
        self._use(change - self._change, blend)
        self._change, self._mass, self._reported = change, float(request.inertia.m), None
        self._node.event(
            'payload set', mass=self._mass, link=request.link or 'last', blend_s=blend
        )
