"""The node `ctc_controller`: computed torque control that learns its model (ILIC)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_id.control import ComputedTorque, Ilic, Update
from robot_id.control.guards import check_model
from robot_id.control.learning import Learning
from robot_id.control.loops import loop_setting
from robot_id.control.torque_control import Mode, TorqueControl
from robot_id.data.joint_order import JointMatcher, joint_order
from robot_id.data.stamps import SECOND, Order, StampWatch, to_ns
from robot_id.dynamics.simulation import sample_configurations
from robot_id.estimation.parameters import load_for_robot
from robot_id.exceptions import DataError, OptionError, RobotIdError
from robot_id.nodes.ctc_parameters import TABLE
from robot_id.ros.base import end, run
from robot_id.ros.diagnostics import ERROR, OK, WARN, RateMeter, Report
from robot_id.ros.effort_commands import CommandWriter
from robot_id.ros.lifecycle import RobotLifecycleNode
from robot_id.ros.messages import WrongState, parameters_message
from robot_id.ros.model_request import requested
from robot_id.ros.qos import LATCHED, LOCK_STEP, STREAM
from robot_id.ros.stamps import to_stamp
from robot_id.ros.wire import POINT, STATE
from robot_id.trajectory.default import motion_of
from robot_id_msgs.msg import DynamicParameters
from robot_id_msgs.srv import EnableLearning, SetDynamicParameters

Array = NDArray[np.float64]


class CtcController(RobotLifecycleNode):
    """Answers every joint state with torques; zero torque when the measurements stop."""

    def __init__(self) -> None:
        super().__init__('ctc_controller', TABLE)
        self._control: Any = None
        self._learning: Any = None

    def configure(self) -> None:
        """Build the controller, the learner and their topics."""
        s = self.settings
        robot = self.robot_setting()
        loop = loop_setting(robot, s['loop'], 'computed_torque')
        if s['rate_hz']:
            loop = loop.model_copy(update={'rate_hz': s['rate_hz']})
        path = s['parameters']
        if path:
            robot, start, result = load_for_robot(robot, path)
            self._method = result.method
        else:
            start, self._method = robot.a_priori(), 'a_priori'
        controller = ComputedTorque(
            robot, start, loop, measured=s['measured'], integral=s['integral'],
            torque_limit=s['torque_limit'] or None, blend_s=s['blend_s'],
        )  # fmt: skip
        controller.check_inertia(sample_configurations(robot))
        order = joint_order(robot.joint_names, s['joints'], 'joints')
        self._lock_step = s['lock_step']
        self._robot = robot
        self._control = TorqueControl(
            controller, s['reference_timeout_s'], s['state_timeout_s'], s['largest_error']
        )
        # Compiled before the first real sample.
        self._control.step(0, np.zeros(robot.n))
        window = s['window_s'] or motion_of(robot).duration
        self._learning = Learning(
            Ilic(
                robot, controller.target, loop.rate_hz, window, sigma_max=s['sigma_max'],
                torque_limit=controller.settings.limit,
            ),
            at_once=self._lock_step,
        )  # fmt: skip
        self._learns = s['learning']
        self._matcher = JointMatcher(robot.joint_names)
        self._watch = StampWatch(round(1e9 / loop.rate_hz))
        self._writer = CommandWriter(robot.joint_names, order, self._lock_step)
        self._meter = RateMeter()
        self._refused, self._last_refusal, self._trips, self._saturated = 0, '', 0, 0
        self._pending: tuple[int, Any] | None = None
        self._answered: tuple[int, Any] | None = None
        self._updates, self._stale = 0, True
        self._make_topics()
        self._publish_parameters(self._method)
        self.diagnostics.add('control', self._report)
        self.diagnostics.add('learning', self._report_learning)

    def _make_topics(self) -> None:
        qos = LOCK_STEP if self._lock_step else STREAM
        self._efforts = self.tell(Float64MultiArray, 'effort_commands', qos)
        self._latched = self.tell(DynamicParameters, '~/dynamic_parameters', LATCHED, always=True)
        self.listen(JointState, 'joint_states', self._on_state, STATE)
        self.listen(JointTrajectory, 'reference', self._on_reference, POINT)
        self.serve(SetDynamicParameters, '~/set_dynamic_parameters', self._set_parameters)
        self.serve(EnableLearning, '~/enable_learning', self._enable_learning)

    def activate(self) -> None:
        """Begin to answer joint states."""
        self._control.restart()
        self._watch.clear()
        self._answered = None
        self._stale = True
        # By a steady clock: a dead simulator takes the simulated one with it.
        self._timeout_s = self.settings['state_timeout_s']
        self._heard = time.monotonic()
        self._watchdog = self.create_timer(self._timeout_s / 2.0, self._check, clock=self.steady)
        self._answer_pending()

    def deactivate(self) -> None:
        """Leave the robot without torque."""
        self.destroy_timer(self._watchdog)
        self._send_zero()

    def cleanup(self) -> None:
        """End the thread of the learner."""
        if self._learning is not None:
            self._learning.close()
        self._control = self._learning = None

    def _on_state(self, message: JointState) -> None:
        # In lock-step the robot waits for the answer to this very state: keep it.
        if not (self.active or self._lock_step):
            return
        ns = to_ns(message.header.stamp)
        try:
            self._matcher.match(message.name)
            position = self._matcher.take(message.position)
        except DataError as error:
            self._refuse('joint state', error)
            return
        order = self._watch.judge(ns)
        if order is Order.RESTART:
            self.event('time started anew')
            self._control.restart()
            self._control.references.forget_beyond(ns + SECOND)
            self._learning.ilic.clear()
            self._pending = self._answered = None
        elif order is Order.DUPLICATE:
            if self._answered is not None and self._answered[0] == ns and self._lock_step:
                self._efforts.publish(self._writer.write(self._answered[1], ns))
            return
        elif order is Order.LATE:
            return
        if self._lock_step:
            self._pending = ns, position
            self._answer_pending()
        else:
            self._answer(ns, position)

    def _on_reference(self, message: JointTrajectory) -> None:
        if not (self.active or self._lock_step):
            return
        try:
            self._control.references.take(message)
        except DataError as error:
            self._refuse('reference', error)
            return
        if self._lock_step:
            self._answer_pending()

    def _answer_pending(self) -> None:
        if self._pending is not None and self.active:
            ns, position = self._pending
            if self._control.references.exact(ns) is not None:
                self._pending = None
                self._answer(ns, position)

    def _answer(self, ns: int, position: Any) -> None:
        control, learning = self._control, self._learning
        before = control.mode
        command = control.step(ns, position)
        self._efforts.publish(self._writer.write(command.torque, ns))
        self._answered = ns, command.torque
        self._heard, self._stale = time.monotonic(), False
        self._meter.tick()
        self._saturated += bool(control.controller.saturated().any())
        if control.mode is not before:
            self._tell_mode(before)
        update = learning.feed(command)
        if update is not None:
            self._learned(update, ns)

    def _tell_mode(self, before: Mode) -> None:
        mode, reason = self._control.mode, self._control.reason
        if mode is Mode.STOPPED:
            self.failure(f'{mode.value}: {reason}')
        elif mode is Mode.BRAKING:
            self.warning(mode.value)
        else:
            self.event(mode.value, before=before.name.lower())

    def _learned(self, update: Update, ns: int) -> None:
        if not update.accepted:
            self.warning(f'update refused: {update.reason}')
        elif self._learns:
            self._use(update.parameters, self.settings['blend_s'])
            self._method = 'ilic'
            deviations = np.sqrt(np.diag(update.fit.covariance))
            self._publish_parameters('ilic', ns, deviations, update.fit.passed)
            self.event('learned', update=self._updates, passed=int(update.fit.passed.sum()))
            if update.payload is not None and update.payload.significant:
                self.event(str(update.payload))

    def _check(self) -> None:
        """Watchdog: no joint state for too long."""
        if self._lock_step or not self.active:
            return
        if time.monotonic() - self._heard < self._timeout_s:
            return
        if not self._stale:
            self._stale = True
            self._trips += 1
            self._control.pause()
            self._learning.ilic.clear()
            self.warning('no valid joint state: zero torque', timeout_s=self._timeout_s)
        self._send_zero()

    def _send_zero(self) -> None:
        zero = np.zeros(self._robot.n)
        ns = self._answered[0] if self._answered else 0
        if not self._lock_step:
            self._efforts.publish(self._writer.write(zero, ns))

    def _refuse(self, what: str, error: RobotIdError) -> None:
        self._refused += 1
        self._last_refusal = f'{what}: {error}'
        self.warning(f'{what} refused: {error}')

    def _use(self, chi: Array, blend_s: float) -> None:
        """Lead the model to new parameters; at once when the robot is not under control."""
        controller = self._control.controller
        controller.memory.blend[1] = blend_s
        controller.set_parameters(chi, at_once=not self.active or self._stale)
        self._updates += 1

    def _parameters_message(
        self, method: str, ns: int | None = None, deviations: Any = None, essential: Any = None
    ) -> DynamicParameters:
        stamp = self.get_clock().now().to_msg() if ns is None else to_stamp(ns)
        return parameters_message(
            self._robot, self._control.controller.target, method=method, update=self._updates,
            stamp=stamp, deviations=deviations, essential=essential,
        )  # fmt: skip

    def _publish_parameters(self, method: str, *details: Any) -> None:
        self._latched.publish(self._parameters_message(method, *details))

    def _set_parameters(
        self, request: SetDynamicParameters.Request, response: SetDynamicParameters.Response
    ) -> None:
        control, learning = self._control, self._learning
        if control is None or learning is None:
            raise WrongState('the controller is not configured')
        try:
            chi, method = requested(
                self._robot, request, control.controller.target, self.settings['data_directory']
            )
            check_model(
                self._robot, chi, control.controller.target, learning.ilic.smallest_inertia
            )
            blend = request.blend_s or self.settings['blend_s']
            if not (np.isfinite(blend) and blend >= 0.0):
                raise OptionError(f'blend_s must be 0 s or more, got {blend}')
            self._use(chi, blend)
            self._method = method
            learning.ilic.parameters = chi.copy()
            self._publish_parameters(method)
            self.event('parameters set', update=self._updates, method=method, blend_s=blend)
        finally:
            response.parameters = self._parameters_message(self._method)

    def _enable_learning(
        self, request: EnableLearning.Request, response: EnableLearning.Response
    ) -> None:
        if self._learning is None:
            raise WrongState('the controller is not configured')
        ilic, sigma = self._learning.ilic, request.sigma_max
        try:
            if sigma:
                if not 10.0 <= sigma <= 30.0:
                    raise OptionError(f'sigma_max must lie between 10 and 30 percent, got {sigma}')
                ilic.sigma_max = float(sigma)
            self._learns = request.enable
            self.event('learning', enabled=self._learns, sigma_max=ilic.sigma_max)
        finally:
            response.enabled, response.sigma_max = self._learns, ilic.sigma_max

    def _report(self) -> Report:
        control = self._control
        values: dict[str, Any] = {
            'mode': control.mode.name.lower(),
            **self._meter.take(),
            **self._watch.counts(),
            'refused': self._refused,
            'last_refusal': self._last_refusal,
            'watchdog_trips': self._trips,
            'saturated_samples': self._saturated,
        }
        for name, error in zip(self._robot.joint_names, control.peak_error):
            values[f'peak_error_{name}'] = float(error)
        control.peak_error[:] = 0.0
        if not self.active:
            return OK, 'inactive', values
        if control.mode is Mode.STOPPED:
            return ERROR, control.reason, values
        if self._stale and not self._lock_step:
            return ERROR if self._trips else WARN, 'no valid joint states: zero torque', values
        if control.reason or control.mode is Mode.BRAKING:
            return WARN, control.reason or control.mode.value, values
        return OK, control.mode.value, values

    def _report_learning(self) -> Report:
        learning = self._learning
        values = {
            'enabled': self._learns,
            'windows': learning.windows,
            'accepted': learning.accepted,
            'refused': learning.refused,
            'last_refusal': learning.last_refusal,
            'update': self._updates,
            'sigma_max': learning.ilic.sigma_max,
        }
        return OK, 'learns' if self._learns else 'keeps its model', values


def main() -> None:
    """Run the node until Ctrl-C."""
    end(run(CtcController))
