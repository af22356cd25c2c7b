"""All formats by name. A new format is one file in this folder and one line in `FORMATS`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from robot_id.exceptions import DataError, DescriptionError, shorten

if TYPE_CHECKING:
    from robot_id.export.parts import Exported
    from robot_id.methods.result import Result

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
    """

    writer: str
    help: str
    needs_robot: bool = True
    moves_robots: bool = False


FORMATS: dict[str, Format] = {
    'yaml': Format('yaml_file', 'base parameters with standard deviations', needs_robot=False),
    'ros-params': Format(
        'ros_parameters', 'a parameter file for ctc_controller', moves_robots=True
    ),
    'urdf': Format(
        'urdf_file', 'your URDF with the identified inertias and friction', moves_robots=True
    ),
    'mjcf': Format('mjcf_file', 'a MuJoCo model', moves_robots=True),
    'sdf': Format('sdf_file', 'an SDF model for Gazebo', moves_robots=True),
    'ros2_control': Format(
        'ros2_control', 'the URDF with a ros2_control tag, and its controllers', moves_robots=True
    ),
    'c': Format(
        'c_code', 'the model as C99 for a controller, into a folder (--out DIR)', moves_robots=True
    ),
    'joints': Format(
        'joints_file', 'armature, friction, gains, delay and bias of every joint (servo_oe)'
    ),
    'csv': Format('csv_file', 'base parameters as a table', needs_robot=False),
}


def export(
    kind: str, result: Result, source: Path, robot: str | None = None, force: bool = False
) -> Exported:
    """
    Return a result in a format.

    :param kind: name of the format.
    :param source: the file of the result.
    :param robot: shipped name, robot file or URDF; None takes the name in the result.
    :param force: export a result for a controller although it must not be used, or was never
        judged.
    """
    # What lists the formats needs none of this.
    from robot_id.export.parts import Request
    from robot_id.export.servo import servo_writer
    from robot_id.methods.registry import TORQUE_FREE
    from robot_id.robot import load_robot

    chosen, name = FORMATS[kind], robot or result.robot
    module = importlib.import_module(f'{__package__}.{chosen.writer}')
    if chosen.moves_robots and not force:
        _refuse_unfit(result, source)
    model = None
    if chosen.needs_robot:
        try:
            model = load_robot(name)
        except DescriptionError as error:
            if robot is not None:
                raise
            raise DescriptionError(f'{error}; name the robot file with --robot') from error
    request = Request(result, name, source, model)
    if result.method in TORQUE_FREE:
        return servo_writer(kind)(request)
    return module.write(request)


def _refuse_unfit(result: Result, source: Path) -> None:
    """Refuse a result that must not be used, or that nobody has judged."""
    if result.verdict is None:
        raise DataError(
            f'{source}: has no verdict: robot-id identify judges what it finds; --force exports '
            'it anyway',
            key='verdict',
        )
    if result.verdict == 'do_not_use':
        reasons = '; '.join(shorten(reason, LONGEST_REASON) for reason in result.reasons)
        raise DataError(
            f'{source}: the verdict is do not use ({reasons or "no reason given"}); --force '
            'exports it anyway',
            key='verdict',
        )
