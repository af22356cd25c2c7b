"""The node `motion_player`: runs a motion on a position-controlled robot, slow first."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from robot_id.exceptions import OptionError, RobotIdError
from robot_id.excitation.clearance import Clearance, clearance_of
from robot_id.nodes.player_parameters import TABLE
from robot_id.ros.asking import Failed, ask
from robot_id.ros.base import SPIN_S, NodeBase, end, run
from robot_id.ros.diagnostics import OK, WARN, Report
from robot_id.ros.durations import to_duration
from robot_id.ros.joint_states import MeasuredTorques
from robot_id.ros.messages import WrongState
from robot_id.ros.qos import SERVICE
from robot_id.ros.refusal import Refusal, code_of
from robot_id.ros.trajectory_client import TrajectoryClient
from robot_id.tasks.playing.follower import SETTLE_S, Follower, Stop
from robot_id.tasks.playing.judge import judge
from robot_id.tasks.playing.plan import Plan, make_plan
from robot_id.tasks.playing.watch import Bounds, Watch
from robot_id.trajectory.default import motion_of
from robot_id.trajectory.waypoints import Waypoints, waypoints
from robot_id_msgs.action import Play
from robot_id_msgs.msg import ErrorCode, PlayedSpeed
from robot_id_msgs.srv import StartRecording, StopRecording

Array = NDArray[np.float64]
# s between two looks of the thread that plays.
LOOK_S = 0.02
FEEDBACK_S = 0.1


class Stopped(RobotIdError):
    """The robot was stopped before the end of the motion."""


class MotionPlayer(NodeBase, Node):
    """Plays the motion speed by speed; each is recorded and judged before the next."""

    def __init__(self) -> None:
        super().__init__('motion_player')
        self.prepare(TABLE)
        self._robot = self.robot_setting()
        if not self.settings['trajectory']:
            raise OptionError('parameter trajectory is not set: a file of robot-id excite')
        self._motion = motion_of(self._robot, self.settings['trajectory'])
        self._clearance = self._geometry()
        driver = self.driver_setting(self._robot)
        self._client = TrajectoryClient(
            self, self.settings['controller'], driver, self.settings['interface'],
            self.settings['accelerations'],
        )  # fmt: skip
        self._states = MeasuredTorques(self, driver, self._on_state)
        self._position: Array | None = None
        self._heard = 0.0
        # What is under way, and the ROS time at which the controller got it.
        self._follower: Follower | None = None
        self._sent_ns = 0
        self._asked_to_stop = ''
        self._confirmed = threading.Event()
        self._playing = threading.Lock()
        self._goal: Any = None
        self._result = Play.Result()
        self._phase, self._speed = 'idle', 0.0
        self.failed = False
        self._start = self.create_client(StartRecording, 'data_logger/start')
        self._end = self.create_client(StopRecording, 'data_logger/stop')
        for name, answer in (('~/stop', self._on_stop), ('~/confirm', self._on_confirm)):
            self.create_service(Trigger, name, answer, qos_profile=SERVICE)
        self._server = ActionServer(
            self,
            Play,
            '~/play',
            self._finish,
            goal_callback=self._accept,
            handle_accepted_callback=self._begin,
            cancel_callback=self._on_cancel,
        )
        self._period_s = self.settings['state_timeout_s'] / 4
        self._guarded = time.monotonic()
        self.create_timer(self._period_s, self._guard, clock=self.steady)
        self.diagnostics.add('motion', self._report)
        if self.settings['once']:
            self._first = self.create_timer(0.0, self._play_once, clock=self.steady)
        self.event('ready', node=self.get_fully_qualified_name(), robot=self._robot.name,
                   interface='action' if self._client.by_action else 'topic')  # fmt: skip

    def _geometry(self) -> Clearance | None:
        margin = self.settings['clearance_m']
        return clearance_of(self._robot, margin) if margin > 0.0 else None

    # Callbacks: they see each joint state and stop the robot at once.

    def _on_state(self, _: int, position: Array, effort: Array) -> None:
        self._position, self._heard = position, time.monotonic()
        follower, client = self._follower, self._client
        if follower is not None:
            stop = follower.state(self._elapsed(), position, effort, client.told, client.ended)
            self._brake(stop)

    def _guard(self) -> None:
        """Stop without joint states, on request, and where the controller has ended."""
        now = time.monotonic()
        late = now - self._guarded - self._period_s
        if late > self._period_s:
            # This process was not run: what came in that time waits, and is heard after this.
            self._heard = min(self._heard + late, now)
        self._guarded = now
        follower = self._follower
        if follower is None:
            return
        if self._asked_to_stop:
            self._brake(follower.stop(self._elapsed(), self._asked_to_stop))
        self._brake(follower.silence(self._elapsed(), now - self._heard, self._client.ended))

    def _elapsed(self) -> float:
        return float(self.get_clock().now().nanoseconds - self._sent_ns) / 1e9

    def _brake(self, stop: Stop | None) -> None:
        """Come to rest along the path, within the acceleration limits."""
        if stop is None or stop.points is None:
            return
        self._phase = 'braking'
        self._client.send(stop.points)
        self.failure(f'stopping: {stop.why}', seconds=stop.seconds)

    def _on_stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._playing.locked()
        response.message = 'slows down and holds' if response.success else 'nothing is played'
        if response.success:
            self._ask_to_stop('stopped on request (~/stop)')
        return response

    def _on_confirm(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._phase == 'waiting'
        response.message = f'speed {self._speed:g}' if response.success else 'nothing waits for it'
        if response.success:
            self._confirmed.set()
        return response

    def _on_cancel(self, _: Any) -> CancelResponse:
        self._ask_to_stop('cancelled on request')
        return CancelResponse.ACCEPT

    def _ask_to_stop(self, why: str) -> None:
        self._asked_to_stop = why
        self._guard()

    # The action: a thread plays, the executor goes on.

    def _accept(self, request: Play.Goal) -> GoalResponse:
        why = 'a motion is being played' if self._playing.locked() else ''
        if any(not 0.0 < speed <= 1.0 for speed in request.speeds):
            why = 'speeds must be above 0 and at most 1'
        if why:
            self.warning(f'~/play refused: {why}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _begin(self, goal: Any) -> None:
        self._goal = goal
        threading.Thread(target=self._run, args=(list(goal.request.speeds),), daemon=True).start()

    def _finish(self, goal: Any) -> Play.Result:
        code = self._result.error_code
        if code == ErrorCode.SUCCESS:
            goal.succeed()
        elif goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return self._result

    def _play_once(self) -> None:
        self._first.cancel()
        threading.Thread(target=self._run, args=([],), daemon=True).start()

    def _run(self, speeds: list[float]) -> None:
        with self._playing:
            result = Play.Result()
            self._asked_to_stop = ''
            self.settings.locked = True
            try:
                self._play(speeds or self.settings['speeds'], result.played)
            except Failed as error:
                result.error_code, result.error_string = ErrorCode.TIMEOUT, str(error)
            except RobotIdError as error:
                result.error_code, result.error_string = self._code(error), str(error)
            except Exception as error:
                self.failure(traceback.format_exc())
                result.error_code = ErrorCode.INTERNAL_ERROR
                result.error_string = f'{type(error).__name__}: the log has more'
            self.settings.locked = False
            if self.settings['armed']:
                self.set_parameters([Parameter('armed', value=False)])
            self._phase, self._result = 'idle', result
        self.failed = bool(result.error_code)
        if self.failed:
            self.failure(f'not played: {result.error_string}')
        else:
            self.event('played', speeds=[each.speed for each in result.played])
        goal, self._goal = self._goal, None
        if goal is not None:
            goal.execute()
        if self.settings['once']:
            os.kill(os.getpid(), signal.SIGINT)

    def _code(self, error: RobotIdError) -> int:
        if self._asked_to_stop:
            return ErrorCode.CANCELED
        return ErrorCode.REFUSED if isinstance(error, Stopped) else code_of(error)

    def _play(self, speeds: list[float], played: list[PlayedSpeed]) -> None:
        self._wait_for(lambda: self._client.ready, f'controller {self.settings["controller"]}')
        self._wait_for(lambda: self._position is not None, 'joint states with efforts')
        if self.settings['record']:
            self._wait_for(self._start.service_is_ready, 'data_logger')
        for speed in speeds:
            self._permit(speed)
            one = PlayedSpeed(speed=speed)
            played.append(one)
            try:
                self._play_at(one)
            except (RobotIdError, Failed) as error:
                one.text = str(error)
                raise
            one.passed = True
            self.event(
                'speed passed', speed=speed, bag=one.bag or 'none',
                tracking_error=one.tracking_error, effort_share=one.effort_share,
                findings=len(one.findings),
            )  # fmt: skip

    def _permit(self, speed: float) -> None:
        """Wait for a person's word before a real robot moves."""
        if self.settings['sim']:
            return
        if not self.settings['armed']:
            raise WrongState(
                'the robot is not armed: set the parameter armed to true when the cell is clear '
                '(sim is false, so it is a real one)'
            )
        if speed <= self.settings['confirmed_speed'] + 1e-9:
            return
        self._confirmed.clear()
        self._phase, self._speed = 'waiting', speed
        name = self.get_fully_qualified_name()
        self.event(
            f'waiting: `ros2 service call {name}/confirm std_srvs/srv/Trigger` permits it',
            speed=speed,
        )
        deadline = time.monotonic() + self.settings['confirm_s']
        while not self._confirmed.wait(LOOK_S):
            self._feed_back(0.0)
            if self._asked_to_stop:
                raise Stopped(self._asked_to_stop)
            if time.monotonic() > deadline:
                raise Refusal(ErrorCode.TIMEOUT, f'speed {speed:g} was not confirmed')

    def _play_at(self, one: PlayedSpeed) -> None:
        position = self._position
        assert position is not None
        if time.monotonic() - self._heard > self.settings['state_timeout_s']:
            raise Stopped('no joint states any more')
        settings = self.settings
        plan = make_plan(
            self._robot, self._motion, one.speed, position, settings['approach_share'],
            self._clearance, settings['back'],
        )  # fmt: skip
        points = waypoints(plan.whole, settings['point_rate_hz'])
        one.planned = to_duration(plan.motion_s)
        if settings['record']:
            one.bag = self._recording(self._start, StartRecording.Request()).bag
        follower = self._send(plan, points)
        try:
            self._follow(follower)
        except Stopped:
            raise
        except Exception:
            # Nobody would watch the robot from here on.
            self._brake(follower.stop(self._elapsed(), 'a fault of the player'))
            raise
        finally:
            self._follower = None
            self._note(one, follower.watch)
            if one.bag:
                self._recording(self._end, StopRecording.Request())
        if one.bag:
            self._phase = 'judging'
            path = Path(settings['data_directory']).expanduser() / one.bag
            found = judge(self._robot, str(path), settings['mapping'])
            one.findings = list(found.findings)
            for line in found.findings:
                self.warning(f'check at speed {one.speed:g}: {line}')
            if found.reason:
                raise Refusal(ErrorCode.REFUSED, f'speed {one.speed:g}: {found.reason}')

    def _send(self, plan: Plan, points: Waypoints) -> Follower:
        settings = self.settings
        limit = self._robot.limits.torque
        bounds = Bounds(
            settings['largest_tracking_error'], np.where(limit > 0.0, limit, np.inf),
            settings['largest_effort_share'], settings['stall_s'],
        )  # fmt: skip
        follower = Follower(
            plan, bounds, self._robot.joint_names, settings['state_timeout_s'],
            settings['point_rate_hz'],
        )  # fmt: skip
        self._speed = plan.speed
        self.event(
            'playing', speed=plan.speed, approach_s=plan.begin, motion_s=plan.motion_s,
            points=len(points.time), rate_hz=points.rate_hz, turns=plan.turns,
        )  # fmt: skip
        self._client.forget()
        self._sent_ns = self.get_clock().now().nanoseconds
        self._follower = follower
        # By the thread of the executor, which also takes the controller's answers.
        assert self.executor is not None
        self.executor.create_task(lambda: self._client.send(points))
        return follower

    def _follow(self, follower: Follower) -> None:
        """Wait until the plan is executed; raise where the robot was stopped."""
        client, watch = self._client, follower.watch
        while follower.stopped is None:
            time.sleep(LOOK_S)
            if follower.stopped is None:
                self._phase, fraction = watch.plan.phase(watch.executed)
                self._feed_back(fraction, watch)
            if follower.finished(time.monotonic(), client.by_action, client.ended):
                return
        if follower.stopped.points is not None:
            until = time.monotonic() + follower.stopped.seconds + SETTLE_S
            while time.monotonic() < until:
                time.sleep(LOOK_S)
                self._feed_back(1.0, watch)
        raise Stopped(f'speed {follower.plan.speed:g}: {follower.stopped.why}')

    _fed_back = 0.0

    def _feed_back(self, fraction: float, watch: Watch | None = None) -> None:
        goal, now = self._goal, time.monotonic()
        if goal is None or now - self._fed_back < FEEDBACK_S:
            return
        self._fed_back = now
        goal.publish_feedback(
            Play.Feedback(
                phase=self._phase, speed=self._speed, fraction=fraction,
                tracking_error=0.0 if watch is None else watch.tracking_error,
            )
        )  # fmt: skip

    def _note(self, one: PlayedSpeed, watch: Watch) -> None:
        names = self._robot.joint_names
        one.tracking_error, one.effort_share = watch.tracking_error, watch.effort_share
        one.tracking_joint, one.effort_joint = (
            names[watch.tracking_joint], names[watch.effort_joint]
        )  # fmt: skip
        one.executed = to_duration(watch.executed_s)

    def _recording(self, client: Any, request: Any) -> Any:
        send = lambda: client.call_async(request)  # noqa: E731
        answer = ask(self, send, self.settings['wait_s'], 'data_logger')
        if answer.error_code:
            raise Failed(f'{client.srv_name}: {answer.error_string}')
        return answer

    def _wait_for(self, there: Any, what: str) -> None:
        deadline = time.monotonic() + self.settings['wait_s']
        while not there():
            if self._asked_to_stop:
                raise Stopped(self._asked_to_stop)
            if time.monotonic() > deadline:
                raise Failed(f'no {what} within {self.settings["wait_s"]:g} s')
            time.sleep(LOOK_S)

    def _report(self) -> Report:
        follower = self._follower
        values = {'phase': self._phase, 'speed': self._speed, 'armed': self.settings['armed'],
                  'refused': self.refused, 'last_refusal': self.last_refusal}  # fmt: skip
        if follower is not None:
            watch = follower.watch
            values['executed_s'], values['tracking_error'] = watch.executed, watch.tracking_error
        if self._position is None:
            return WARN, 'waits for joint states', values
        return OK, self._phase, values

    def close(self) -> None:
        """Bring the robot to rest before the process ends."""
        follower = self._follower
        stop = None if follower is None else follower.stop(self._elapsed(), 'the node ends')
        if stop is None or stop.points is None:
            return
        self.failure(f'stopping: {stop.why}', seconds=stop.seconds)
        assert self.executor is not None
        spin = self.executor.spin_once
        self._client.deliver(stop.points, lambda: spin(timeout_sec=SPIN_S))


def main() -> None:
    """Run the node until Ctrl-C, or until all is played."""
    made: list[MotionPlayer] = []

    def make() -> MotionPlayer:
        made.append(MotionPlayer())
        return made[0]

    code = run(make, executor=SingleThreadedExecutor)
    end(code or int(bool(made) and made[0].failed and made[0].settings['once']))
