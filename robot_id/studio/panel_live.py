"""Panel 'Live', where ROS is: what a robot's topics say now. It never sends a motion."""

from __future__ import annotations

import importlib.util

from nicegui import ui

from robot_id.studio.workspace import Workspace


def ros_is_there() -> bool:
    """Whether ROS can be imported."""
    return importlib.util.find_spec('rclpy') is not None


class LivePanel:
    """Joint states of a running robot."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        ui.label('Live').classes('text-lg')

    def refresh(self) -> None:
        """Nothing changes with the workspace."""
