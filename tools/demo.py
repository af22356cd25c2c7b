"""
See it work: a robot that is identified while it is controlled, before and after.

Usage: python tools/demo.py [ROBOT]

Every node is a process of its own, in lock-step, so it runs as fast as the machine allows: a
motion under computed torque with the a priori values, identification from what was recorded, then
the same motion with what was found. Exit code 0 when the tracking error has become smaller.
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
# The helpers of the tests start processes and talk to nodes; the demo needs just that.
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

from lifecycle_msgs.msg import Transition  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
from ros_helpers.client import Client  # noqa: E402
from ros_helpers.node_process import NodeProcess  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from robot_id.cli.console import output  # noqa: E402
from robot_id.data import Dataset, Run  # noqa: E402
from robot_id.estimation import registry  # noqa: E402
from robot_id.estimation.result import Result  # noqa: E402
from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.model import Robot, load_robot  # noqa: E402
from robot_id.report.tables import parameter_table, result_lines  # noqa: E402
from robot_id_msgs.srv import SetDynamicParameters  # noqa: E402

START_S, MOTION_S = 120.0, 600.0
DEEP = QoSProfile(depth=100_000)
# One cycle; six joints do not need 1 kHz.
RATES = {'tx40': 500.0}


class Demo:
    """
    The nodes of one robot and what they publish.

    :param robot: the Robot.
    :param client: talks to the nodes.
    """

    def __init__(self, robot: Robot, client: Client) -> None:
        self.robot, self.client = robot, client
        self.states = client.collect(JointState, 'joint_states', DEEP)
        self.references = client.collect(JointTrajectory, 'reference', DEEP)

    @contextlib.contextmanager
    def nodes(self) -> Iterator[None]:
        """Start the nodes and bring them up; at the end all must have ended cleanly."""
        rate = RATES.get(self.robot.name, 1000.0)
        common = {'robot': self.robot.name, 'rate_hz': rate, 'use_sim_time': True}
        lock = {**common, 'lock_step': True}
        processes = {
            'trajectory_generator': NodeProcess(
                'trajectory_generator', parameters={**lock, 'cycles': 1}
            ),
            'ctc_controller': NodeProcess('ctc_controller', parameters=lock),
            'ddm_simulator': NodeProcess('ddm_simulator', parameters=lock),
        }
        self.generator = processes['trajectory_generator']
        with contextlib.ExitStack() as stack:
            for process in processes.values():
                stack.enter_context(process)
            for process in processes.values():
                process.wait_for_log('ready', START_S)
            for name in ('ctc_controller', 'ddm_simulator'):
                for number in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
                    if not self.client.change_state(name, number, START_S):
                        raise AssertionError(f'{name} refuses:\n{processes[name].log}')
            yield
            codes = {name: process.stop() for name, process in processes.items()}
        failed = [f'{name} exit {code}' for name, code in codes.items() if code]
        if failed:
            raise AssertionError(f'a node failed: {", ".join(failed)}')

    def controller(self, transition: int) -> None:
        """Take the controller from one state to another."""
        if not self.client.change_state('ctc_controller', transition, START_S):
            raise AssertionError(f'the controller refuses transition {transition}')

    def motion(self) -> Run:
        """Let the generator play its motion once; return what was measured meanwhile."""
        first, done = len(self.references), self._played()
        began = time.perf_counter()
        answer = self.client.call(Trigger, 'trajectory_generator/start')
        if not answer.success:
            raise AssertionError(f'the generator refuses: {answer.message}')
        self.client.spin_until(lambda: self._played() > done, MOTION_S, 'the end of the motion')
        newest = self.references[-1]
        self.client.spin_until(
            lambda: _key(self.states[-1]) >= _key(newest) and not _moves(self.references[-1]),
            MOTION_S,
            'the last states of the motion',
        )
        run = self._run(self.references[first:])
        steps, seconds = len(run.time), time.perf_counter() - began
        lost = round(run.time[-1] / np.min(np.diff(run.time))) + 1 - steps
        print(f'demo: {run.time[-1]:.2f} s of motion in {seconds:.1f} s, {steps} samples, '
              f'{lost} lost')  # fmt: skip
        return run

    def _played(self) -> int:
        return len(re.findall('motion is over', self.generator.log))

    def _run(self, references: list[Any]) -> Run:
        """Return states and references with the same stamps, while the reference moves."""
        states = {_key(state): state for state in self.states}
        self.states.clear()
        moving = [i for i, reference in enumerate(references) if _moves(reference)]
        kept = {_key(r): r for r in references[moving[0] : moving[-1] + 1] if _key(r) in states}
        time_s = np.array([sec + 1e-9 * ns for sec, ns in kept])
        points = [r.points[0] for r in kept.values()]
        seen = [states[key] for key in kept]
        return Run(
            time_s - time_s[0],
            np.array([s.position for s in seen]),
            np.array([s.effort for s in seen]),
            reference_position=np.array([p.positions for p in points]),
            reference_velocity=np.array([p.velocities for p in points]),
            reference_acceleration=np.array([p.accelerations for p in points]),
        )

    def identify(self, run: Run) -> Result:
        """Identify the robot from a motion."""
        dataset = Dataset(self.robot.joint_names, (run,), source='demo')
        # The simulated friction is smooth; on a real robot leave this option alone.
        options = {'coulomb_slope': self.robot.description.coulomb_slope}
        return registry.create('idim_wls', options).estimate(self.robot, dataset)

    def use(self, result: Result) -> None:
        """Give the controller the identified values."""
        request = SetDynamicParameters.Request(blend_s=0.2)
        request.parameters.names = list(result.names)
        request.parameters.values = [float(v) for v in result.values]
        request.parameters.method = result.method
        name = 'ctc_controller/set_dynamic_parameters'
        answer = self.client.call(SetDynamicParameters, name, request)
        if answer.error_code:
            raise AssertionError(f'the controller refuses: {answer.error_string}')


def tracking_error(run: Run) -> np.ndarray:
    """(n,) ||qr - q|| / ||q - mean(q)|| of each joint (table II of paper 003)."""
    assert run.reference_position is not None
    spread = np.linalg.norm(run.position - run.position.mean(axis=0), axis=0)
    return np.linalg.norm(run.reference_position - run.position, axis=0) / spread


def _moves(reference: JointTrajectory) -> bool:
    return bool(np.any(np.abs(reference.points[0].velocities)))


def _key(message: Any) -> tuple[int, int]:
    return message.header.stamp.sec, message.header.stamp.nanosec


def main() -> None:
    """Run the demo."""
    began = time.perf_counter()
    try:
        robot = load_robot(sys.argv[1] if len(sys.argv) > 1 else 'emps')
    except RobotIdError as error:
        sys.exit(f'demo: {error}')
    print(f'demo: {robot.name}: simulator, generator and controller, three processes')
    with Client('demo') as client:
        demo = Demo(robot, client)
        with demo.nodes():
            before = demo.motion()
            # In lock-step a robot without a controller waits.
            demo.controller(Transition.TRANSITION_DEACTIVATE)
            result = demo.identify(before)
            output().print(parameter_table(result))
            for line in result_lines(result):
                output().print(line, markup=False, soft_wrap=True)
            demo.use(result)
            demo.controller(Transition.TRANSITION_ACTIVATE)
            after = demo.motion()
    errors = tracking_error(before), tracking_error(after)
    print('demo: tracking error, a priori -> identified')
    for name, first, second in zip(robot.joint_names, *errors):
        print(f'  {name:12s} {first:.3g} -> {second:.3g}  ({first / second:.1f} times smaller)')
    print(f'demo: done in {time.perf_counter() - began:.0f} s, all nodes ended cleanly')
    if not np.all(errors[1] < errors[0]):
        sys.exit('demo: a tracking error has not become smaller')


if __name__ == '__main__':
    try:
        main()
    except AssertionError as error:
        sys.exit(f'demo: {error}')
