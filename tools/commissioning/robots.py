"""The robots: a file for the controller, a model for it, and a MuJoCo plant that is another."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from plants import mujoco_arms
from running.soft_loop import soft_robot_file, with_soft_loop

from robot_id.export import export
from robot_id.methods.result import Result
from robot_id.robot import Robot, load_robot

Array = NDArray[np.float64]
# Slow enough for a machine that does other work, too.
RATE_HZ = 250.0
# The model of a good identification: bodies 3 % too heavy, friction 10 % too small.
BODIES, FRICTION = 1.03, 0.9
# Bodies of a robot that is another one, where no other arm has as many joints.
HEAVIER = 5.0
# Where the robot file names none [rad].
ENCODER_STEP = 2e-5
_FRICTION = re.compile(r'^(Fv|Fc|Fvm|Fcm|Off)\d')


@dataclass(frozen=True)
class Machine:
    """
    A robot to be commissioned.

    :param start: (n,) posture.
    :param joint: where mistakes are planted.
    :param other: an arm with as many joints, for the wrong robot file; '' for heavier bodies.
    :param stock: an arm of example-robot-data, not a shipped robot.
    """

    name: str
    start: tuple[float, ...]
    joint: int
    other: str = ''
    stock: bool = False


MACHINES = {
    machine.name: machine
    for machine in (
        Machine('emps', (0.1,), 0),
        Machine('scara', (0.3, 0.6), 1),
        Machine('tx40', (0.2, 0.5, 0.9, 0.3, 0.6, 0.2), 1, other='z1'),
        Machine('panda', (0.1, -0.6, 0.2, -2.0, 0.1, 1.6, 0.7), 1, other='xarm7', stock=True),
    )
}


@dataclass(frozen=True)
class Prepared:
    """
    The files of a machine in a folder.

    :param robot: as the controller knows it.
    :param robot_file: of the controller; `wrong_file` that of another robot.
    :param model: the controller's result file; `wrong_model` that of another robot.
    :param settings: of the plant.
    """

    machine: Machine
    robot: Robot
    robot_file: Path
    model: Path
    wrong_file: Path
    wrong_model: Path
    settings: Path

    @property
    def has_gravity(self) -> bool:
        """Whether a joint carries weight."""
        chi = Result.load(self.model).values
        from robot_id.dynamics import bias

        zero = np.zeros(self.robot.n)
        weight = bias(self.robot, chi, np.array(self.machine.start), zero, 1e3)
        return bool(np.any(np.abs(weight) > 1e-3 * self.robot.limits.torque))


def prepare(name: str, folder: Path, patience_s: float = 0.0) -> Prepared:
    """Write the files of a machine; `patience_s` is of its plant."""
    machine = MACHINES[name]
    robot_file = _robot_file(name, folder, machine.stock)
    robot = load_robot(robot_file)
    truth = _truth(robot)
    plant = export('mjcf', _result(robot, truth), folder / 'truth.json', str(robot_file))
    mjcf = folder / f'{name}.mjcf'
    mjcf.write_text(plant.text)
    model = folder / f'{name}.json'
    _result(robot, truth * np.where(is_friction(robot), FRICTION, BODIES)).save(model)
    wrong_file, wrong_model = robot_file, folder / f'{name}_wrong.json'
    if machine.other:
        wrong_file = _renamed_arm(machine.other, robot.joint_names, folder)
        other = load_robot(wrong_file)
        _result(other, _truth(other)).save(wrong_model)
    else:
        _result(robot, HEAVIER * truth).save(wrong_model)
    settings, noise = folder / f'{name}_plant.json', robot.description.noise
    content: dict[str, Any] = {
        'model': str(mjcf),
        'joints': robot.joint_names,
        'start': machine.start,
        'limit': robot.limits.torque.tolist(),
        'step': list(noise.encoder_step) if noise.encoder_step else [ENCODER_STEP] * robot.n,
        'rate_hz': RATE_HZ,
        'patience_s': patience_s,
    }
    settings.write_text(json.dumps(content))
    return Prepared(machine, robot, robot_file, model, wrong_file, wrong_model, settings)


def _robot_file(name: str, folder: Path, stock: bool) -> Path:
    """Write the robot file with a loop for the rate; return its path."""
    if not stock:
        return soft_robot_file(name, folder, RATE_HZ)
    file = mujoco_arms.make_arm(name, folder).robot_file
    with_soft_loop(yaml.safe_load(file.read_text()), file, RATE_HZ)
    return file


def is_friction(robot: Robot) -> NDArray[np.bool_]:
    """(b,) which parameters are friction."""
    return np.array([bool(_FRICTION.match(name)) for name in robot.base.names])


def _truth(robot: Robot) -> Array:
    """(b,) of the robot file, or the bodies of the URDF with drives of a share of the limits."""
    if robot.description.truth:
        return robot.truth()
    x = np.zeros(len(robot.standard_names))
    x[robot.inertial_index] = robot.kinematics.inertia
    for k, name in enumerate(robot.standard_names):
        match = re.match(r'^(Ia|Fv|Fc)(\d+)$', name)
        if match:
            limit = robot.limits.torque[int(match[2]) - 1]
            x[k] = limit * {'Ia': 0.002, 'Fv': 0.01, 'Fc': 0.015}[match[1]]
    return robot.base.from_standard(x)


def _result(robot: Robot, chi: Array) -> Result:
    covariance = np.diag((0.01 * chi) ** 2 + 1e-12)
    return Result(
        robot.name, 'idim_wls', robot.base.names, chi, covariance, verdict='usable',
        relative_error_percent=2.0,
    )  # fmt: skip


def _renamed_arm(name: str, joints: tuple[str, ...], folder: Path) -> Path:
    """Write another arm whose joints have these names; return its robot file."""
    urdf = mujoco_arms.chain_urdf(name, folder / f'other_{name}.urdf')
    tree = ElementTree.parse(urdf)
    moving = [j for j in tree.getroot().findall('joint') if j.get('type') in mujoco_arms.MOVING]
    order = load_robot(urdf).joint_names
    for joint in moving:
        joint.set('name', joints[order.index(joint.get('name'))])
    tree.write(urdf)
    content = {'name': name, 'urdf': str(urdf), 'gravity': [0.0, 0.0, -9.81]}
    file = folder / f'other_{name}.yaml'
    with_soft_loop(content, file, RATE_HZ)
    return file
