"""A position-controlled UR5 of MuJoCo as a process, and what a test asks and sees of it."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from plants.mujoco_arms import chain_urdf, robots_folder
from plants.position_arm import Settings
from running.client import Client
from running.node_process import NodeProcess
from std_msgs.msg import String

from robot_id.robot import load_robot
from robot_id.trajectory import save_trajectory
from robot_id.trajectory.random import random_trajectory

PLANT = Path(__file__).resolve().parents[2] / 'tools/plants/jtc_plant.py'
ACCELERATION = 8.0
HOME = (0.2, -1.0, 0.8, -0.5, 0.4, 0.1)
SECONDS = 4.0


@dataclass(frozen=True)
class ArmFiles:
    """
    Files of an arm.

    :param motion: of SECONDS, `settings` of the plant.
    """

    folder: Path
    robot: Path
    motion: Path
    settings: Path


def write_arm(folder: Path) -> ArmFiles:
    """Write robot file, motion and plant settings of a UR5."""
    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    urdf = chain_urdf('ur5', folder / 'ur5.urdf')
    names = load_robot(str(urdf)).joint_names
    joints = [{'name': name, 'limits': {'acceleration': ACCELERATION}} for name in names]
    robot_file = folder / 'ur5.yaml'
    robot_file.write_text(yaml.safe_dump({'name': 'ur5', 'urdf': str(urdf), 'joints': joints}))
    robot = load_robot(str(robot_file))
    motion = random_trajectory(robot.limits, SECONDS, seed=1, share=0.5)
    save_trajectory(motion, folder / 'motion.yaml', names)
    settings = Settings(str(urdf), HOME, names).write(folder / 'plant.json')
    return ArmFiles(folder, robot_file, folder / 'motion.yaml', settings)


class Cell:
    """The plant of a namespace."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._status = client.collect(String, 'plant/status')
        self._settings = client.node.create_publisher(String, 'plant/settings', 10)
        client.spin_until(self._settings.get_subscription_count, what='plant')

    def change(self, **settings: Any) -> None:
        """Change the arm while it runs."""
        self._settings.publish(String(data=json.dumps(settings)))
        self.client.spin_for(0.2)

    def figures(self) -> dict[str, Any]:
        """Return what the plant tells now."""
        self._status.clear()
        self.client.spin_until(lambda: self._status, what='status')
        return dict(json.loads(self._status[-1].data))

    def stand(self) -> dict[str, Any]:
        """Wait until the arm stands; return its figures."""
        return dict(
            self.client.spin_until(
                lambda: (found := self.figures())['stands'] and found, 20.0, 'the arm stands'
            )
        )

    def move(self, away: float) -> None:
        """Wait until a joint is so far from HOME, rad."""

        def there() -> bool:
            q = self.figures()['position']
            return max(abs(one - other) for one, other in zip(q, HOME)) > away

        self.client.spin_until(there, 120.0, 'the arm moves')


@contextlib.contextmanager
def plant_cell(files: ArmFiles, namespace: str) -> Iterator[Cell]:
    """Run the plant, and a client beside it."""
    command = [sys.executable, str(PLANT), str(files.settings)]
    with NodeProcess(command, namespace=namespace) as plant:
        plant.wait_for_log('ready', 120)
        with Client(namespace=namespace) as client:
            yield Cell(client)
