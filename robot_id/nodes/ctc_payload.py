"""The load of the running `ctc_controller`: set by a service, or noticed and confirmed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.control import PayloadEstimate as NoticedLoad
from robot_id.robot import Robot
from robot_id.ros.durations import to_stamp
from robot_id.ros.lifecycle import RobotLifecycleNode
from robot_id.ros.model_check import Checked
from robot_id.ros.payload_message import running_message
from robot_id.ros.qos import LATCHED
from robot_id.tasks.payload.attachment import link_frame
from robot_id_msgs.msg import PayloadEstimate
from robot_id_msgs.srv import SetPayload

Array = NDArray[np.float64]


class CarriedLoad:
    """
    Knows the load that the model of a controller has.

    Another load that the learner sees is published and logged. The model takes it over if its mass
    is within `payload_bound_kg` of the one it has, otherwise after `~/set_payload` has confirmed
    it.

    :param node: the lifecycle node.
    :ivar change: (b,) what the load that was set adds to the parameters.
    """

    def __init__(self, node: RobotLifecycleNode, robot: Robot) -> None:
        self._node, self._robot = node, robot
        self.change, self._mass = np.zeros(len(robot.base)), 0.0
        # (10,) the part of the change that a load on the last link would explain.
        self._load: Array = np.zeros(10)
        self._reported: NoticedLoad | None = None
        self._frame = link_frame(robot)
        self.held = 0
        self._publisher = node.publisher(PayloadEstimate, '~/payload', LATCHED, always=True)

    def admits(self, load: NoticedLoad | None, ns: int) -> bool:
        """Return whether a model with a load may be taken over; publish and log the load."""
        if load is None:
            return True
        self._publisher.publish(running_message(load, self._robot.name, self._frame, to_stamp(ns)))
        bound = self._node.settings['payload_bound_kg']
        near = load.mass is not None and abs(load.mass - self._mass) <= bound
        if not self._waits_with(load) and (near or not load.differs_from(self._load)):
            self._reported = None
            return True
        self.held += 1
        if not self._reported or load.clearly_differs_from(self._reported):
            self._reported = load
            self._node.warning(
                f'the load has changed from {self._mass:.3g} kg, {load}: the model waits for '
                '~/set_payload, or a larger payload_bound_kg'
            )
        return False

    def _waits_with(self, load: NoticedLoad) -> bool:
        """Whether a load that was told stays: a window too poor to tell does not take it back."""
        if self._reported is None:
            return False
        if load.mass is None:
            return self._reported.mass is not None
        return not load.clearly_differs_from(self._reported)

    def set(self, request: SetPayload.Request, checked: Checked, blend_s: float) -> None:
        """Remember the load of a model that was taken over."""
        self.change, self._load = checked.load, checked.standard
        self._mass, self._reported = float(request.inertia.m), None
        self._node.event(
            'payload set', mass=self._mass, link=request.link or 'last', blend_s=blend_s
        )
