"""All formats by name. A new format is one file in this folder and one line in `FORMATS`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from robot_id.estimation.result import Result
from robot_id.exceptions import DescriptionError
from robot_id.model import load_robot
from robot_id.report.export.parts import Exported, Request


@dataclass(frozen=True)
class Format:
    """
    One format.

    :param writer: 'module' in this folder whose `write(request)` returns an Exported.
    :param help: one line for the command line.
    :param needs_robot: the Robot must be loaded; else its name alone will do.
    """

    writer: str
    help: str
    needs_robot: bool = True


FORMATS: dict[str, Format] = {
    'yaml': Format('yaml_file', 'base parameters with their deviations', needs_robot=False),
    'ros-params': Format('ros_parameters', 'a parameter file for ctc_controller'),
    'c': Format('c_code', 'the model as C99 for a controller, into a folder (--out DIR)'),
    'csv': Format('csv_file', 'base parameters as a table', needs_robot=False),
}


def export(kind: str, result: Result, source: Path, robot: str | None = None) -> Exported:
    """
    Return a result in a format.

    :param kind: name of the format.
    :param source: the file of the result.
    :param robot: shipped name, robot file or URDF; None takes the name in the result.
    """
    chosen, name = FORMATS[kind], robot or result.robot
    module = importlib.import_module(f'{__package__}.{chosen.writer}')
    model = None
    if chosen.needs_robot:
        try:
            model = load_robot(name)
        except DescriptionError as error:
            if robot is not None:
                raise
            raise DescriptionError(f'{error}; name the robot file with --robot') from error
    return module.write(Request(result, name, source, model))
