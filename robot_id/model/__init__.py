"""What a robot is: description files, kinematics, parameters, friction, drives, coupling."""

from robot_id.model.base import BaseParameters
from robot_id.model.description import Loop, RobotDescription
from robot_id.model.robot import Limits, Robot, load_robot

__all__ = ['BaseParameters', 'Limits', 'Loop', 'Robot', 'RobotDescription', 'load_robot']
