"""The model of the running `ctc_controller`: services that set it, learning, publication."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robot_id.control import Update
from robot_id.control.guards import NOT_PROVEN, check_model
from robot_id.control.learning import Learning
from robot_id.control.torque_control import TorqueControl
from robot_id.nodes.ctc_payload import CarriedLoad
from robot_id.ros.diagnostics import OK, Report
from robot_id.ros.durations import to_seconds
from robot_id.ros.messages import WrongState, parameters_message
from robot_id.ros.model_request import requested
from robot_id.ros.qos import LATCHED
from robot_id.ros.stamps import to_stamp
from robot_id_msgs.msg import DynamicParameters
from robot_id_msgs.srv import EnableLearning, SetDynamicParameters

if TYPE_CHECKING:
    from robot_id.nodes.ctc_controller import CtcController

Array = NDArray[np.float64]


class ControllerModel:
    """
    Moves the controller to new parameters, from a service or from ILIC.

    :param node: the lifecycle node, which owns the topic and the services.
    :param control: the law.
    :param learning: the learner.
    :param method: where the start values come from.
    :param learns: whether identified parameters are used from the start.
    :param proven: whether M(q) of the start values is proven to be positive definite.
    """

    def __init__(
        self,
        node: CtcController,
        control: TorqueControl,
        learning: Learning,
        method: str,
        *,
        learns: bool,
        proven: bool,
    ) -> None:
        self._node, self._control, self._learning = node, control, learning
        self._robot = control.controller.robot
        self._method, self._learns, self._updates = method, learns, 0
        self._publisher = node.tell(
            DynamicParameters, '~/dynamic_parameters', LATCHED, always=True
        )
        node.serve(SetDynamicParameters, '~/set_dynamic_parameters', self._set_parameters)
        node.serve(EnableLearning, '~/enable_learning', self._enable_learning)
        self._load = CarriedLoad(node, self._robot, self._add)
        node.diagnostics.add('learning', self._report)
        self._judge(proven)
        self._publisher.publish(self._message())

    def learned(self, update: Update, ns: int) -> None:
        """Use the update of a window, if learning is enabled."""
        node = self._node
        admitted = self._load.admits(update.payload, ns)
        if not update.accepted:
            node.warning(f'update refused: {update.reason}')
        elif not (admitted and self._learns):
            self._learning.set_parameters(self._control.controller.target)
        else:
            self._use(update.parameters, node.settings['blend_s'])
            self._proven = bool(node.settings['physical'])
            self._method = 'ilic'
            deviations = np.sqrt(np.diag(update.fit.covariance))
            self._publisher.publish(
                self._message(ns, deviations, update.fit.passed, update.fit.covariance)
            )
            node.event('learned', update=self._updates, passed=int(update.fit.passed.sum()))

    def _add(self, change: Array, blend_s: float) -> None:
        """Add to the model, as a load does."""
        controller = self._control.controller
        chi = controller.target + change
        smallest = self._learning.ilic.options.smallest_inertia
        physical = self._node.settings['physical']
        proven = check_model(self._robot, chi, controller.target, smallest, physical)
        self._use(chi, blend_s)
        self._judge(proven)
        self._learning.set_parameters(chi)
        self._publisher.publish(self._message())

    def _use(self, chi: Array, blend_s: float) -> None:
        """Move the model to new parameters; at once when the robot is not under control."""
        controller = self._control.controller
        controller.set_parameters(chi, not self._node.under_control, blend_s)
        self._updates += 1

    def _judge(self, proven: bool) -> None:
        """Remember whether M(q) of the model is proven to be positive definite, and say if not."""
        self._proven = proven
        if not proven:
            self._node.warning(NOT_PROVEN)

    def _message(
        self,
        ns: int | None = None,
        deviations: Array | None = None,
        essential: NDArray[np.bool_] | None = None,
        covariance: Array | None = None,
    ) -> DynamicParameters:
        stamp = self._node.get_clock().now().to_msg() if ns is None else to_stamp(ns)
        return parameters_message(
            self._robot, self._control.controller.target, method=self._method,
            update=self._updates, stamp=stamp, deviations=deviations, essential=essential,
            covariance=covariance,
        )  # fmt: skip

    def _set_parameters(
        self, request: SetDynamicParameters.Request, response: SetDynamicParameters.Response
    ) -> None:
        controller, settings = self._control.controller, self._node.settings
        try:
            chi, method = requested(
                self._robot, request, controller.target, settings['data_directory']
            )
            smallest = self._learning.ilic.options.smallest_inertia
            physical = settings['physical']
            proven = check_model(self._robot, chi, controller.target, smallest, physical)
            blend = to_seconds(request.blend) or settings['blend_s']
            self._use(chi, blend)
            self._judge(proven)
            self._method = method
            self._learning.set_parameters(chi)
            self._publisher.publish(self._message())
            self._node.event('parameters set', update=self._updates, method=method, blend_s=blend)
        finally:
            response.parameters = self._message()

    def _enable_learning(
        self, request: EnableLearning.Request, response: EnableLearning.Response
    ) -> None:
        ilic, sigma = self._learning.ilic, request.sigma_max
        try:
            if request.enable and self._node.settings['dry_run']:
                raise WrongState('dry_run: the torques are not applied, nothing can be learned')
            if sigma:
                ilic.sigma_max = sigma
            self._learns = request.enable
            self._node.event('learning', enabled=self._learns, sigma_max=ilic.sigma_max)
        finally:
            response.enabled, response.sigma_max = self._learns, ilic.sigma_max

    def _report(self) -> Report:
        learning = self._learning
        values = {
            'enabled': self._learns,
            'windows': learning.windows,
            'accepted': learning.accepted,
            'refused': learning.refused,
            'lost': learning.lost,
            'last_refusal': learning.last_refusal,
            'update': self._updates,
            'held_for_load': self._load.held,
            'positive_definite': 'proven' if self._proven else 'searched, not proven',
            'sigma_max': learning.ilic.sigma_max,
            'learner_pid': learning.process.pid if learning.process else 0,
        }
        return OK, 'learns' if self._learns else 'keeps its model', values
