"""The robot: description files, kinematics, parameters, friction, drives, coupling."""

from robot_id.robot.drives import Drives
from robot_id.robot.files.description import Loop, RobotDescription
from robot_id.robot.files.loading import build_robot, load_robot
from robot_id.robot.limits import Limits
from robot_id.robot.parameters.base import BaseParameters
from robot_id.robot.payload import Payload, payload_parameters
from robot_id.robot.robot import Robot

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
