"""All formats by name. A new format is one file in this folder and one line in `FORMATS`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from robot_id.exceptions import DataError, shorten

if TYPE_CHECKING:
    from robot_id.export.parts import Exported
    from robot_id.methods.result import Result
    from robot_id.robot import Robot

# Characters of each reason of a verdict in the line that refuses it.
LONGEST_REASON = 140


@dataclass(frozen=True)
class Format:
    """
    One format.

    :param writer: 'module' in this folder whose `write(request)` returns an Exported.
    :param help: one line for the command line.
    :param needs_robot: the Robot must be loaded; else its name alone will do.
    :param moves_robots: a controller starts from it: a result with the verdict do_not_use, or
        without one, is refused.
    :param ending: of its file, '' where it is a folder of files.
    """

    writer: str
    help: str
    needs_robot: bool = True
    moves_robots: bool = False
    ending: str = ''

    @property
    def folder(self) -> bool:
        """Whether it is a folder of files."""
        return not self.ending


FORMATS: dict[str, Format] = {
    'yaml': Format(
        'yaml_file', 'base parameters with standard deviations', needs_robot=False, ending='.yaml'
    ),
    'ros-params': Format(
        'ros_parameters',
        'a parameter file for ctc_controller',
        moves_robots=True,
        ending='.yaml',
    ),
    'urdf': Format(
        'urdf_file',
        'your URDF with the identified inertias and friction',
        moves_robots=True,
        ending='.urdf',
    ),
    'mjcf': Format('mjcf_file', 'a MuJoCo model', moves_robots=True, ending='.xml'),
    'sdf': Format('sdf_file', 'an SDF model for Gazebo', moves_robots=True, ending='.sdf'),
    'ros2_control': Format(
        'ros2_control',
        'the URDF with a ros2_control tag, and its controllers',
        moves_robots=True,
        ending='.urdf',
    ),
    'c': Format(
        'c_code',
        'the model as C99 for a controller, into a folder (--out DIR)',
        moves_robots=True,
    ),
    'controller': Format(
        'controller',
        'a ros2_control controller in C++ with the model, an ament_cmake package, into a folder',
        moves_robots=True,
    ),
    'python': Format(
        'python_package',
        'the model as a Python package that needs nothing but numpy, into a folder',
        moves_robots=True,
    ),
    'joints': Format(
        'joints_file',
        'armature, friction, gains, delay and bias of every joint (servo_oe)',
        ending='.yaml',
    ),
    'csv': Format('csv_file', 'base parameters as a table', needs_robot=False, ending='.csv'),
}


def export(
    kind: str,
    result: Result,
    source: Path,
    robot: Robot | str | None = None,
    force: bool = False,
) -> Exported:
    """
    Return a result in a format.

    :param kind: name of the format.
    :param source: the file of the result.
    :param robot: Robot, shipped name, robot file or URDF; None takes what the result names.
    :param force: export a result for a controller although it must not be used, or was never
        judged.
    """
    if kind not in FORMATS:
        raise DataError(
            f"no format '{kind}': one of {', '.join(FORMATS)}", key='format', value=kind
        )
    # What lists the formats needs none of this.
    from robot_id.export.parts import Request
    from robot_id.export.servo import servo_writer
    from robot_id.methods.model_file import robot_of
    from robot_id.methods.registry import TORQUE_FREE

    chosen = FORMATS[kind]
    module = importlib.import_module(f'{__package__}.{chosen.writer}')
    if chosen.moves_robots and not force:
        _refuse_unfit(result, source)
    write = servo_writer(kind) if result.method in TORQUE_FREE else module.write
    if not chosen.needs_robot:
        return write(Request(result, robot if isinstance(robot, str) else result.robot, source))
    model, notes = robot_of(result, robot, source)
    made = write(Request(result, _name(result, robot), source, model))
    return replace(made, notes=(*notes, *made.notes))


def _name(result: Result, robot: Robot | str | None) -> str:
    """Return how the robot was named: by the user, or by the result."""
    if isinstance(robot, str):
        return robot
    if robot is not None and robot.source is not None:
        return robot.source.path
    return str(result.robot_file['path']) if result.robot_file else result.robot


def _refuse_unfit(result: Result, source: Path) -> None:
    """Refuse a result that must not be used, or that nobody has judged."""
    if result.verdict is None:
        raise DataError(
            f'{source}: has no verdict: robot-id identify judges what it finds; --force '
            '(force=True) exports it anyway',
            key='verdict',
        )
    if result.verdict == 'do_not_use':
        reasons = '; '.join(shorten(reason, LONGEST_REASON) for reason in result.reasons)
        raise DataError(
            f'{source}: the verdict is do not use ({reasons or "no reason given"}); --force '
            '(force=True) exports it anyway',
            key='verdict',
        )
