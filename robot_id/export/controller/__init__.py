"""The identified model as a ros2_control controller: a folder, an ament_cmake package."""

from __future__ import annotations

from robot_id.export.c_code import identifier
from robot_id.export.c_code.model_source import ModelSource
from robot_id.export.controller.package import Package
from robot_id.export.parts import Exported, Request


def write(request: Request) -> Exported:
    """Return the folder; refuse parameters that no robot should move with."""
    robot, chi = request.controller_model()
    model = ModelSource(robot, chi, identifier(robot.name))
    origin = request.origin
    package = Package(model)
    return Exported(text='', folder=package.files(origin), notes=package.notes)
