"""
See it work: a robot that is identified while it is controlled, before and after.

Usage: python tools/demo.py [ROBOT]

Every node is a process of its own: simulator, trajectory generator and controller in lock-step, so
they run as fast as the machine allows, data logger and identification server. A motion under
computed torque with the a priori values is recorded, the identify action works on the recording,
and the same motion runs with what was found. Exit code 0 when every tracking error has become
smaller. Recordings, results and plots are left in runs/demo.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from lifecycle_msgs.msg import Transition  # noqa: E402
from running.client import Client  # noqa: E402
from running.node_process import NodeProcess  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from robot_id import data  # noqa: E402
from robot_id.cli.console import output  # noqa: E402
from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.methods.result import Result  # noqa: E402
from robot_id.report.tables import parameter_table, result_lines  # noqa: E402
from robot_id.robot import Robot, load_robot  # noqa: E402
from robot_id.ros.durations import to_seconds  # noqa: E402
from robot_id_msgs.action import Identify  # noqa: E402
from robot_id_msgs.msg import Option  # noqa: E402
from robot_id_msgs.srv import (  # noqa: E402
    SetDynamicParameters,
    StartRecording,
    StopRecording,
)

DATA = ROOT / 'runs/demo'
START_S, WORK_S = 120.0, 600.0
# Six joints do not need 1 kHz.
RATES = {'tx40': 500.0}


class Demo:
    """
    The nodes of one robot.

    :param robot: the Robot.
    :param client: talks to the nodes.
    """

    def __init__(self, robot: Robot, client: Client) -> None:
        self.robot, self.client = robot, client
        common = {'robot': robot.name, 'use_sim_time': True}
        lock = {**common, 'rate_hz': RATES.get(robot.name, 1000.0), 'lock_step': True}
        place = {'data_directory': str(DATA), 'use_sim_time': True}
        self.processes = {
            name: NodeProcess(name, parameters=parameters)
            for name, parameters in (
                ('trajectory_generator', {**lock, 'cycles': 1}),
                ('ctc_controller', {**lock, 'data_directory': str(DATA)}),
                ('ddm_simulator', lock),
                ('data_logger', place),
                ('identification_server', {**place, 'robot': robot.name}),
            )
        }

    @contextlib.contextmanager
    def nodes(self) -> Iterator[None]:
        """Start the nodes; at the end all must have ended cleanly."""
        with contextlib.ExitStack() as stack:
            for process in self.processes.values():
                stack.enter_context(process)
            for process in self.processes.values():
                process.wait_for_log('ready', START_S)
            yield
            codes = {name: process.stop() for name, process in self.processes.items()}
        failed = [f'{name} exit {code}' for name, code in codes.items() if code]
        if failed:
            raise AssertionError(f'a node failed: {", ".join(failed)}')

    def change(self, node: str, *transitions: int) -> None:
        """Take a lifecycle node from state to state."""
        for transition in transitions:
            if not self.client.change_state(node, transition, START_S):
                raise AssertionError(f'{node} refuses:\n{self.processes[node].log}')

    def ask(self, kind: type, name: str, request: Any = None) -> Any:
        """Call a service and return its answer; a refusal ends the demo."""
        answer = self.client.call(kind, name, request, START_S)
        if getattr(answer, 'error_code', 0) or not getattr(answer, 'success', True):
            raise AssertionError(
                f'{name}: {getattr(answer, "error_string", "") or answer.message}'
            )
        return answer

    def motion(self, name: str) -> str:
        """Play the motion once under control and record it; return the bag."""
        self.change('ctc_controller', Transition.TRANSITION_ACTIVATE)
        request = StartRecording.Request(name=f'{time.strftime("%Y%m%d_%H%M%S")}_{name}')
        bag = self.ask(StartRecording, 'data_logger/start', request).bag
        done, began = self._played(), time.perf_counter()
        self.ask(Trigger, 'trajectory_generator/start')
        self.client.spin_until(lambda: self._played() > done, WORK_S, 'the end of the motion')
        seconds = time.perf_counter() - began
        status = self.ask(StopRecording, 'data_logger/stop').status
        # In lock-step a robot without a controller waits.
        self.change('ctc_controller', Transition.TRANSITION_DEACTIVATE)
        print(
            f'demo: {name}: {to_seconds(status.duration):.2f} s of motion in {seconds:.1f} s, '
            f'{status.samples} samples, {status.lost} lost -> {DATA.name}/{bag}'
        )
        return bag

    def _played(self) -> int:
        return len(re.findall('the motion has ended', self.processes['trajectory_generator'].log))

    def identify(self, bag: str) -> str:
        """Identify the robot from a bag; return the result file."""
        goal = Identify.Goal(bag=bag, method='idim_wls')
        # The simulated friction is smooth; on a real robot leave this option alone.
        slope = str(self.robot.description.coulomb_slope)
        goal.options = [
            Option(key='physical', value='true'), Option(key='coulomb_slope', value=slope),
        ]  # fmt: skip
        sent = self.client.send_goal(Identify, 'identification_server/identify', goal, START_S)
        if not sent.accepted:
            raise AssertionError('the identification server refuses the goal')
        _, answer = sent.result(WORK_S)
        if answer.error_code:
            raise AssertionError(f'identification: {answer.error_string}')
        print(f'demo: identified with {len(sent.feedback)} reports of progress')
        return answer.result.json_path

    def use(self, json_path: str) -> None:
        """Give the controller the identified values."""
        request = SetDynamicParameters.Request(json_path=json_path)
        self.ask(SetDynamicParameters, 'ctc_controller/set_dynamic_parameters', request)


def tracking_error(robot: Robot, bag: str) -> np.ndarray:
    """(n,) ||qr - q|| / ||q - mean(q)|| of each joint (table II of paper 003)."""
    runs = data.load(DATA / bag, robot=robot).runs
    run = max(runs, key=lambda run: len(run.time))
    if run.reference_position is None:
        raise AssertionError(f'{bag}: no reference in the recording')
    spread = np.linalg.norm(run.position - run.position.mean(axis=0), axis=0)
    return np.linalg.norm(run.reference_position - run.position, axis=0) / spread


def main() -> None:
    """Run the demo."""
    began = time.perf_counter()
    robot = load_robot(sys.argv[1] if len(sys.argv) > 1 else 'emps')
    DATA.mkdir(parents=True, exist_ok=True)
    with Client('demo') as client:
        demo = Demo(robot, client)
        print(f'demo: {robot.name}: starting {", ".join(demo.processes)}, a process each')
        with demo.nodes():
            demo.change('ctc_controller', Transition.TRANSITION_CONFIGURE)
            up = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE
            demo.change('ddm_simulator', *up)
            before = demo.motion('a_priori')
            found = demo.identify(before)
            result = Result.load(DATA / found)
            output().print(parameter_table(result))
            for line in result_lines(result):
                output().print(line, markup=False, soft_wrap=True)
            demo.use(found)
            after = demo.motion('identified')
    errors = tracking_error(robot, before), tracking_error(robot, after)
    print('demo: tracking error, a priori -> identified')
    for name, first, second in zip(robot.joint_names, *errors):
        print(f'  {name:12s} {first:.3g} -> {second:.3g}  ({first / second:.1f} times smaller)')
    print(f'demo: done in {time.perf_counter() - began:.0f} s, all nodes ended cleanly')
    if not np.all(errors[1] < errors[0]):
        sys.exit('demo: a tracking error has not become smaller')


if __name__ == '__main__':
    try:
        main()
    except (AssertionError, RobotIdError) as error:
        sys.exit(f'demo: {error}')
