"""One robot on its plant with a controller: brought up, moved, watched, put back."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lifecycle_msgs.msg import Transition
from plants.wiring import Wiring
from running.client import Client
from running.node_process import NodeProcess
from running.robot_graph import START_S, Health
from std_msgs.msg import String
from std_srvs.srv import Trigger

from commissioning.motion import motion_of
from commissioning.robots import RATE_HZ, Prepared
from commissioning.seen import Seen
from robot_id.trajectory import save_trajectory
from robot_id_msgs.action import Commission

PLANT = Path(__file__).resolve().parents[1] / 'plants/free_plant.py'
CONTROLLER, GENERATOR = 'ctc_controller', 'trajectory_generator'
# Of controller and generator, where it is permitted: a busy machine is not what is measured.
PRIORITY = 20
# Longest commissioning.
COMMISSION_S = 120.0


class Cell:
    """
    A plant, a controller and a generator, in a namespace.

    :ivar controller: its process and `node` its name; `health` the diagnostics.
    """

    def __init__(self, client: Client, prepared: Prepared, folder: Path, namespace: str) -> None:
        self.client, self.prepared = client, prepared
        self._folder, self._namespace = folder, namespace
        self.health = Health(client)
        self._status = client.collect(String, 'plant/status', 100)
        self._wirings = client.node.create_publisher(String, 'plant/wiring', 10)
        self._started = 0
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Cell:
        self.plant = self._stack.enter_context(
            NodeProcess(
                [sys.executable, str(PLANT), str(self.prepared.settings)],
                namespace=self._namespace,
            )
        )
        self.plant.wait_for_log('ready', START_S)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.__exit__(*error)

    @contextlib.contextmanager
    def controlled(self, wrong: bool = False, **parameters: Any) -> Iterator[NodeProcess]:
        """Run a controller that is configured, not active."""
        p = self.prepared
        file, model = (p.wrong_file, p.wrong_model) if wrong else (p.robot_file, p.model)
        given = {
            'robot': str(file), 'parameters': str(model), 'rate_hz': RATE_HZ,
            'data_directory': str(self._folder), 'real_time_priority': PRIORITY, **parameters,
        }  # fmt: skip
        # A name of its own: for a while the middleware takes one that has ended for alive.
        self._started += 1
        self.node = f'controller_{self._started}'
        with NodeProcess(
            CONTROLLER,
            parameters=given,
            namespace=self._namespace,
            remap={'__node': self.node},
        ) as process:
            process.wait_for_log('ready', START_S)
            assert self.client.change_state(self.node, Transition.TRANSITION_CONFIGURE, START_S)
            self.controller = process
            yield process

    @contextlib.contextmanager
    def generator(self, starts: bool = False) -> Iterator[NodeProcess]:
        """
        Run a generator of a slow motion of all joints from the start, forth and back.

        :param starts: at the first joint state, without being asked.
        """
        robot = self.prepared.robot
        file = self._folder / f'{robot.name}_motion.yaml'
        save_trajectory(motion_of(self.prepared), file, robot.joint_names)
        given = {
            'robot': str(self.prepared.robot_file), 'rate_hz': RATE_HZ, 'trajectory': str(file),
            'cycles': 0, 'real_time_priority': PRIORITY, 'autostart': starts,
        }  # fmt: skip
        with NodeProcess(GENERATOR, parameters=given, namespace=self._namespace) as process:
            process.wait_for_log('ready', START_S)
            yield process

    def wire(self, wiring: Wiring) -> None:
        """Put the plant to its start, wired so, and forget what it saw."""
        self._ask(wiring.to_json(), 'wiring')

    def rewire(self, wiring: Wiring) -> None:
        """Change the wiring of a robot that moves."""
        self._ask(f'+{wiring.to_json()}', 'wiring')

    def clear(self) -> None:
        """Let the plant forget the largest values, and go on."""
        self._ask('', 'cleared')

    def _ask(self, text: str, counted: str) -> None:
        self.client.spin_until(self._wirings.get_subscription_count, START_S, 'the plant listens')
        number = self.status()[counted] + 1
        self._wirings.publish(String(data=text))
        self.client.spin_until(
            lambda: self.status()[counted] >= number, START_S, 'the plant has done it'
        )

    def status(self) -> dict[str, Any]:
        """Return the last words of the plant."""
        self.client.spin_until(lambda: self._status, START_S, 'the plant tells')
        del self._status[:-1]
        return json.loads(self._status[-1].data)

    def seen(self) -> Seen:
        """Return what the plant saw since it was wired."""
        return Seen.of(self.status())

    def activate(self) -> bool:
        """Activate the controller; return whether it agreed."""
        return self.client.change_state(self.node, Transition.TRANSITION_ACTIVATE, START_S)

    def deactivate(self) -> None:
        """End control."""
        self.client.change_state(self.node, Transition.TRANSITION_DEACTIVATE, START_S)

    def commission(self) -> tuple[str, bool]:
        """Move each joint a little; return what was found, and whether it is a mistake."""
        goal = self.client.send_goal(Commission, f'{self.node}/commission', Commission.Goal())
        if not goal.accepted:
            return 'not accepted', True
        _, result = goal.result(COMMISSION_S)
        return result.error_string, bool(result.error_code)

    def move(self) -> None:
        """Start the motion."""
        self.client.call(Trigger, f'{GENERATOR}/start', None, START_S)

    def rest(self) -> None:
        """End the motion."""
        self.client.call(Trigger, f'{GENERATOR}/stop', None, START_S)
