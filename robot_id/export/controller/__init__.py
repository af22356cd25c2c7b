"""The identified model as a ros2_control controller: a folder, an ament_cmake package."""

from __future__ import annotations

from robot_id.exceptions import DataError
from robot_id.export.c_code import identifier
from robot_id.export.c_code.model_source import ModelSource
from robot_id.export.controller.package import Package
from robot_id.export.parts import Exported, Request
from robot_id.methods.parameters import parameters_for


def write(request: Request) -> Exported:
    """Return the folder; refuse parameters that no robot should move with."""
    result, robot = request.result, request.loaded
    if not result.converged:
        raise DataError(
            f'{request.source}: {result.method} did not converge, a controller must not use it'
        )
    chi = parameters_for(robot, result)
    model = ModelSource(robot, chi, identifier(robot.name))
    origin = f'{result.method}, {request.source.name}'
    package = Package(model)
    return Exported(text='', folder=package.files(origin), notes=package.notes)
