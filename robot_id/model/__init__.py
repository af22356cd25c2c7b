"""The robot: description files, kinematics, parameters, friction, drives, coupling."""

from robot_id.model.base import BaseParameters
from robot_id.model.description import Loop, RobotDescription
from robot_id.model.drives import Drives
from robot_id.model.limits import Limits
from robot_id.model.loading import build_robot, load_robot
from robot_id.model.payload import Payload, payload_parameters
from robot_id.model.robot import Robot

__all__ = [
    'BaseParameters',
    'Drives',
    'Limits',
    'Loop',
    'Payload',
    'Robot',
    'RobotDescription',
    'build_robot',
    'load_robot',
    'payload_parameters',
]
