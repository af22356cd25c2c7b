"""The node `identification_server`: any method on any recording, on request."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor

from robot_id.exceptions import DescriptionError, OptionError, RobotIdError, did_you_mean
from robot_id.methods import registry
from robot_id.methods.result import Result
from robot_id.nodes.payload_service import PayloadService, Server
from robot_id.progress import Cancelled, IterationText
from robot_id.robot.files.source import robot_files
from robot_id.ros.base import end, run
from robot_id.ros.data_directory import (
    DATA_DIRECTORY,
    LONGEST,
    below,
    newest,
    recording_below,
    shortened,
)
from robot_id.ros.diagnostics import OK, WARN, Report
from robot_id.ros.messages import WrongState
from robot_id.ros.parameter_table import MAPPING, ROBOT, Row
from robot_id.ros.qos import LATCHED, SERVICE
from robot_id.ros.refusal import Refusal, as_request, code_of
from robot_id.ros.result_message import method_message, result_message
from robot_id.ros.worker_process import WorkerProcess
from robot_id_msgs.action import Identify as IdentifyAction
from robot_id_msgs.msg import ErrorCode, IdentificationResult, Option, RecordingStatus
from robot_id_msgs.srv import Identify as IdentifyService
from robot_id_msgs.srv import ListMethods

THREADS = 4
FEEDBACK_S = 0.05
ENDS = 'the identification_server ends'

TABLE = (
    ROBOT,
    DATA_DIRECTORY,
    MAPPING,
    Row('method', 'idim_wls', 'Method for requests that do not name one.',
        choices=tuple(registry.names()), live=True),
    Row('plots', True, 'Save plots of measured and predicted torques with the result.', live=True),
    Row('time_limit_s', 3600.0, 'Time limit of an identification by the action [s].',
        1.0, 1e6, live=True),
    Row('service_time_limit_s', 60.0, 'Time limit of an identification by the service [s].',
        1.0, 1e6, live=True),
)  # fmt: skip


class IdentificationServer(Server):
    """Identifies from recordings below the data directory, one at a time."""

    def __init__(self) -> None:
        super().__init__('identification_server')
        self.prepare(TABLE)
        self.root = Path(self.settings['data_directory']).expanduser().absolute()
        if self.settings['robot']:
            self.robot_setting()
        self._worker = WorkerProcess()
        self._busy = threading.Lock()
        self._ending = False
        self._doing, self._done, self._failed, self._last_error = '', 0, 0, ''
        group = ReentrantCallbackGroup()
        self.create_subscription(
            RecordingStatus, 'data_logger/status', self._on_recording, LATCHED
        )
        self._action = ActionServer(
            self,
            IdentifyAction,
            '~/identify',
            self.counted(self._act),
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=group,
        )
        # A service of the same name as the action stands beside it: they share no topic.
        for kind, name, answer in (
            (IdentifyService, '~/identify', self._serve),
            (ListMethods, '~/list_methods', self._list),
        ):
            self.create_service(
                kind, name, self.counted(answer), qos_profile=SERVICE, callback_group=group
            )
        self._payloads = PayloadService(self, group)
        self.diagnostics.add('identification', self._report)
        self.event('ready', node=self.get_fully_qualified_name(), data_directory=self.root)

    def _on_recording(self, status: RecordingStatus) -> None:
        self.recording = status

    def _act(self, goal: Any) -> IdentifyAction.Result:
        feedback = IdentifyAction.Feedback(relative_error_percent=math.nan)
        last = [0.0]

        def report(fraction: float, text: str) -> None:
            counted = isinstance(text, IterationText)
            if isinstance(text, IterationText):
                feedback.iteration = text.iteration
                feedback.relative_error_percent = text.error_percent
            now = time.monotonic()
            if not counted and now - last[0] < FEEDBACK_S:
                return
            last[0] = now
            feedback.fraction, feedback.text = fraction, str(text)
            goal.publish_feedback(feedback)

        answer = IdentifyAction.Result()
        limit = self.settings['time_limit_s']
        try:
            answer.result = self._identify(
                goal.request, report, lambda: goal.is_cancel_requested or self._ending, limit
            )
        except Cancelled:
            asked = goal.is_cancel_requested
            why = 'cancelled on request' if asked else ENDS
            answer.error_code, answer.error_string = ErrorCode.CANCELED, why
            self.event('identification cancelled', why=why)
            (goal.canceled if asked else goal.abort)()
            return answer
        except RobotIdError as error:
            answer.error_code, answer.error_string = self.refusal_of(error)
            goal.abort()
            return answer
        goal.succeed()
        return answer

    def _serve(
        self, request: IdentifyService.Request, response: IdentifyService.Response
    ) -> IdentifyService.Response:
        limit = self.settings['service_time_limit_s']
        try:
            response.result = self._identify(
                request, lambda fraction, text: None, lambda: self._ending, limit
            )
        except Cancelled:
            response.error_code, response.error_string = ErrorCode.CANCELED, ENDS
        except RobotIdError as error:
            response.error_code, response.error_string = self.refusal_of(error)
        return response

    def _list(
        self, request: ListMethods.Request, response: ListMethods.Response
    ) -> ListMethods.Response:
        response.methods = [method_message(name) for name in registry.names()]
        return response

    def refusal_of(self, error: RobotIdError) -> tuple[int, str]:
        """Count a refusal; return its code and its line."""
        text = as_request(' '.join(str(error).split()))
        self._failed, self._last_error = self._failed + 1, text
        self.failure(f'no identification: {text}')
        return code_of(error), text

    def _identify(
        self,
        request: Any,
        report: Callable[[float, str], None],
        cancelled: Callable[[], bool],
        time_limit_s: float,
    ) -> IdentificationResult:
        """
        Check a request of the service or the action, and give it to the worker.

        :raises RobotIdError: with the reason why there is no result.
        """
        given = [text for option in request.options for text in (option.key, option.value)]
        for text in (request.method, request.robot, *given):
            if len(text) > LONGEST:
                raise OptionError(f"'{shortened(text)}' is too long for a request")
        method = request.method or self.settings['method']
        if method not in registry.names():
            raise Refusal(
                ErrorCode.INVALID_METHOD,
                f"no method '{method}': {did_you_mean(method, registry.names())}",
            )
        options = self._options(request.options)
        registry.create(method, options)
        robot = self.robot_of(request.robot)
        bag = request.bag or self._last_recording()
        path = recording_below(self.root, bag)
        if path == below(self.root, '.'):
            raise RobotIdError(f"'{bag}' is the data directory itself: name a bag in it")
        work = {
            'robot': robot,
            'data': str(path),
            'method': method,
            'mapping': self.settings['mapping'],
            'options': options,
            'output': str(path.with_name(f'{path.name}.results')),
            'plots': self.settings['plots'],
        }
        what = f'{method} on {bag}'
        return self._message(self.have_done(what, work, time_limit_s, report, cancelled), path)

    def have_done(
        self,
        what: str,
        work: dict[str, Any],
        time_limit_s: float,
        report: Callable[[float, str], None] = lambda fraction, text: None,
        cancelled: Callable[[], bool] | None = None,
    ) -> dict[str, Any]:
        """Give one task to the worker; refused while it is busy."""
        if not self._busy.acquire(blocking=False):
            raise Refusal(
                ErrorCode.BUSY, f'{self._doing} is running: cancel it, or try again later'
            )
        try:
            self._doing = what
            self.event('identifying', robot=work['robot'], work=what)
            ending = cancelled or (lambda: self._ending)
            return self._worker.run(work, report, ending, time_limit_s)
        finally:
            self._doing = ''
            self._busy.release()

    def _options(self, given: list[Option]) -> dict[str, str]:
        keys = [option.key for option in given]
        for key in keys:
            if keys.count(key) > 1:
                raise OptionError(f"option '{key}' is given more than once")
        # A value that names a file, such as the start of an iteration, is in the data directory.
        return {
            key: str(below(self.root, value)) if '/' in value or value.endswith('.json') else value
            for key, value in ((option.key, option.value) for option in given)
        }

    def robot_of(self, name: str) -> str:
        """Return the robot of a request: a shipped name, or the file of the configured one."""
        configured = self.settings['robot']
        if not name:
            if not configured:
                raise DescriptionError('no robot: name one, or set the parameter robot')
            name = configured
        shipped = robot_files()
        if name not in shipped and name not in (configured, self.diagnostics.hardware):
            # A request must not make the node read files: paths come by the parameter only.
            raise DescriptionError(f"no robot '{name}': {did_you_mean(name, shipped)}")
        if name == self.diagnostics.hardware:
            name = configured
        return str(Path(name).absolute()) if name not in shipped else name

    def _last_recording(self) -> str:
        status = self.recording
        if status is None:
            return newest(self.root)
        if status.recording:
            raise WrongState(f"recording '{status.bag}' is running: stop it first")
        return status.bag

    def _message(self, found: dict[str, Any], path: Path) -> IdentificationResult:
        root = below(self.root, '.')

        def short(file: str) -> str:
            return str(Path(file).relative_to(root)) if file else ''

        result = Result.from_dict(found['result'])
        message = result_message(result, self.get_clock().now().to_msg())
        message.joint_names = found['joint_names']
        message.warnings = [as_request(line) for line in found['warnings']]
        message.bag = short(str(path))
        message.json_path = short(found['json_path'])
        message.plot_paths = [short(file) for file in found['plot_paths']]
        self._done += 1
        self.event(
            'identified',
            bag=message.bag,
            method=result.method,
            error_percent=float(result.relative_error_percent),
            verdict=result.verdict or 'none',
            converged=result.converged,
            elapsed_s=float(result.elapsed_s),
            json=message.json_path,
        )
        return message

    def _report(self) -> Report:
        values = {'done': self._done, 'refused': self._failed, 'last_error': self._last_error}
        if self._doing:
            return OK, f'running {self._doing}', values
        if self._last_error and not self._done:
            return WARN, self._last_error, values
        return OK, 'waiting for requests', values

    def close(self) -> None:
        """End the current work."""
        self._ending = True
        with self._busy:
            self._worker.kill()


def main() -> None:
    """Run the node until Ctrl-C."""
    end(run(IdentificationServer, executor=lambda: MultiThreadedExecutor(THREADS)))
