"""Drive models, one file each: from command and position to the torque of the motor."""

from robot_id.dynamics.simulation.servo.drives.drive import Drive, Number
from robot_id.dynamics.simulation.servo.drives.registry import DRIVES

__all__ = ['DRIVES', 'Drive', 'Number']
