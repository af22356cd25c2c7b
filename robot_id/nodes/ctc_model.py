"""The model of the running `ctc_controller`: services that set it, learning, publication."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.control import Update
from robot_id.control.learning.beside_loop import Learning
from robot_id.control.runtime.guards import SEARCHED_ONLY
from robot_id.control.runtime.model_bounds import blend_rate
from robot_id.control.runtime.torque_control import Command, TorqueControl
from robot_id.exceptions import shorten
from robot_id.nodes.ctc_payload import CarriedLoad
from robot_id.nodes.hand_over import Asked, HandOver
from robot_id.ros.diagnostics import OK, Report
from robot_id.ros.durations import to_seconds, to_stamp
from robot_id.ros.lifecycle import RobotLifecycleNode
from robot_id.ros.messages import WrongState, parameters_message, verdict_word
from robot_id.ros.model_check import Checked, Question, Refused, Setting
from robot_id.ros.qos import LATCHED
from robot_id.ros.request_poll import Reply, RequestPoll
from robot_id_msgs.msg import ControllerStatus, DynamicParameters, ErrorCode, Verdict
from robot_id_msgs.srv import EnableLearning, SetDynamicParameters, SetPayload

Array = NDArray[np.float64]
# Time between two looks for requests while no joint states come [s].
POLL_S = 0.02
# Where start values come from that no measurement has made.
NOT_MEASURED = ('a_priori', 'urdf', 'sdf', 'mjcf')


class ControllerModel:
    """
    Moves the controller to new parameters, from a service or from ILIC.

    :param node: the lifecycle node, which owns the topics.
    :param control: the law.
    :param learning: the learner.
    :param method: where the start values come from.
    :param learns: whether identified parameters are used from the start.
    :param consistent: whether the start values are physically consistent (M(q) > 0 everywhere).
    :param moves: whether the robot moves by the torques of this node.
    """

    def __init__(
        self,
        node: RobotLifecycleNode,
        control: TorqueControl,
        learning: Learning,
        method: str,
        *,
        learns: bool,
        consistent: bool,
        moves: Callable[[], bool],
    ) -> None:
        self._node, self._control, self._learning = node, control, learning
        self._moves = moves
        self._robot = control.controller.robot
        self._method, self._learns, self._updates = method, learns, 0
        self._verdict = Verdict()
        self._covariance: Array | None = None
        self._resting: Asked | None = None
        self._command: Command | None = None
        self._worked = False
        self._publisher = node.publisher(
            DynamicParameters, '~/dynamic_parameters', LATCHED, always=True
        )
        self._statuses = node.publisher(ControllerStatus, '~/status', LATCHED, always=True)
        self._load = CarriedLoad(node, self._robot)
        settings = node.settings
        setting = Setting(
            self._robot, settings['data_directory'], settings['physical'],
            learning.ilic.options.smallest_inertia, control.controller.settings.kp,
        )  # fmt: skip
        self._hand_over, self._poll = HandOver(setting, self._question), RequestPoll(node)
        node.track(ControllerModel.close, self)
        for kind, name, work in (
            (SetDynamicParameters, '~/set_dynamic_parameters', self._hand_over.put),
            (SetPayload, '~/set_payload', self._hand_over.put),
            (EnableLearning, '~/enable_learning', self._enable_learning),
        ):
            self._poll.serve(kind, name, work)
        self._poll.adopt()
        node.track(node.destroy_timer, node.create_timer(POLL_S, self._idle, clock=node.steady))
        node.diagnostics.add('learning', self._report)
        controller = control.controller
        self._jump = controller.settings.jump.copy()
        self._limit_blend(blend_rate(self._robot, controller.target, controller.settings.kp))
        self._judge(consistent)
        self._publisher.publish(self._message())
        self.publish_status()

    def close(self) -> None:
        """End the services and the process that checks models."""
        if self._resting is not None:
            self._resting.reply.refuse(ErrorCode.INVALID_STATE, 'the controller ends')
            self._resting = None
        self._hand_over.close()
        self._poll.close()

    def work(self, command: Command) -> None:
        """Take one request, and take over a model that has been checked, after a command."""
        self._command, self._worked = command, True
        self._poll.poll()
        self._move_on()

    def _idle(self) -> None:
        """Work where no joint states come; otherwise each of them does."""
        if self._worked:
            self._worked = False
            return
        if not self._moves():
            self._command = None
        while self._poll.poll():
            pass
        self._move_on()

    def _move_on(self) -> None:
        """Take over a model that has been checked."""
        asked = self._hand_over.take()
        if asked is not None and self._resting is not None:
            self._resting.reply.refuse(ErrorCode.CANCELED, 'replaced by a later request')
            self._resting = None
        asked = asked or self._resting
        if asked is None:
            return
        self._resting = None
        if isinstance(asked.outcome, Refused):
            self._refuse(asked, asked.outcome)
        elif asked.request.when == asked.request.AT_REST and not self._at_rest():
            self._resting = asked
        elif asked.update != self._updates:
            self._hand_over.again(asked)
        else:
            assert asked.outcome is not None
            self._take_over(asked, asked.outcome)

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
            self._consistent = bool(node.settings['physical'])
            self._method, self._verdict = 'ilic', Verdict()
            self._covariance = update.fit.covariance
            self._publisher.publish(self._message(ns, update.fit.passed))
            node.event('learned', update=self._updates, passed=int(update.fit.passed.sum()))

    def publish_status(self, ns: int | None = None) -> None:
        """Publish what the controller is doing."""
        control = self._control
        message = ControllerStatus(
            mode=getattr(ControllerStatus, 'STOPPED' if control.stopped else control.mode.name),
            reason=control.reason or control.mode.value,
            dry_run=bool(self._node.settings['dry_run']),
            learning=self._learns,
            update=self._updates,
        )
        message.header.stamp = self._stamp(ns)
        self._statuses.publish(message)

    def _at_rest(self) -> bool:
        """Whether the robot stands, or is not under control."""
        return self._command is None or not np.any(self._command.point[1:])

    def _question(self, request: Any) -> tuple[Question, int]:
        chi, identified = self._control.controller.target, self._method not in NOT_MEASURED
        return Question(request, chi, self._load.change, identified), self._updates

    def _refuse(self, asked: Asked, why: Refused) -> None:
        if isinstance(asked.request, SetDynamicParameters.Request):
            asked.reply.response.parameters = self._message()
        asked.reply.refuse(why.code, why.text)

    def _take_over(self, asked: Asked, checked: Checked) -> None:
        request, node, wanted = asked.request, self._node, checked.wanted
        blend = to_seconds(request.blend) or node.settings['blend_s']
        if request.forced_by:
            by, why = shorten(request.forced_by), shorten(request.force_reason)
            node.warning(f'a model is forced by {by}: {why}')
        self._limit_blend(checked.rate)
        self._use(wanted.values, blend)
        self._judge(checked.consistent)
        self._learning.set_parameters(wanted.values)
        if isinstance(request, SetPayload.Request):
            self._load.set(request, checked, blend)
            self._publisher.publish(self._message())
        else:
            self._method, self._verdict = wanted.method, wanted.verdict
            self._covariance = wanted.covariance
            asked.reply.response.parameters = self._message()
            self._publisher.publish(asked.reply.response.parameters)
            node.event(
                'parameters set', update=self._updates, method=wanted.method,
                verdict=verdict_word(wanted.verdict), blend_s=blend,
            )  # fmt: skip
        asked.reply.send()

    def _use(self, chi: Array, blend_s: float) -> None:
        """Move the model to new parameters; at once when the robot is not under control."""
        controller = self._control.controller
        controller.set_parameters(chi, not self._moves(), blend_s)
        self._updates += 1

    def _limit_blend(self, rate: Array) -> None:
        """Let the torque move to a model by at most a rate (n,), N.m/s or N/s."""
        controller = self._control.controller
        np.minimum(self._jump, rate * controller.period, out=controller.settings.jump)

    def _judge(self, consistent: bool) -> None:
        """Remember whether the model is physically consistent, and say if not."""
        self._consistent = consistent
        if not consistent:
            self._node.warning(SEARCHED_ONLY)

    def _stamp(self, ns: int | None) -> Any:
        return self._node.get_clock().now().to_msg() if ns is None else to_stamp(ns)

    def _message(
        self, ns: int | None = None, essential: NDArray[np.bool_] | None = None
    ) -> DynamicParameters:
        covariance = self._covariance
        deviations = None if covariance is None else np.sqrt(np.diag(covariance))
        return parameters_message(
            self._robot, self._control.controller.target, method=self._method,
            update=self._updates, stamp=self._stamp(ns), deviations=deviations,
            covariance=covariance, essential=essential, verdict=self._verdict,
        )  # fmt: skip

    def _enable_learning(self, request: EnableLearning.Request, reply: Reply) -> None:
        ilic, sigma = self._learning.ilic, request.sigma_max
        try:
            if request.enable and self._node.settings['dry_run']:
                raise WrongState('dry_run: the torques are not applied, nothing can be learned')
            if sigma:
                ilic.sigma_max = sigma
            self._learns = request.enable
            self._node.event('learning', enabled=self._learns, sigma_max=ilic.sigma_max)
            self.publish_status()
        finally:
            reply.response.enabled, reply.response.sigma_max = self._learns, ilic.sigma_max
        reply.send()

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
            'positive_definite': 'everywhere' if self._consistent else 'where searched',
            'sigma_max': learning.ilic.sigma_max,
            'learner_pid': learning.process.pid if learning.process else 0,
            'checker_pid': self._hand_over.pid,
        }
        return OK, 'learns' if self._learns else 'keeps its model', values
