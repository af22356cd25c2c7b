"""YAML of joint parameters as simulators name them; only results without torques have them."""

from __future__ import annotations

from robot_id.exceptions import DataError
from robot_id.export.parts import Exported, Request


def write(request: Request) -> Exported:
    """Refuse a result of base parameters."""
    raise DataError(
        f"{request.source}: format 'joints' is of results of servo_oe, this one is of "
        f'{request.result.method}: use urdf, mjcf or yaml',
        key='format',
    )
