"""Drive models, from command and position to the torque of the motor: one file and a name here."""

from robot_id.dynamics.simulation.servo.drives import current, pd, voltage
from robot_id.dynamics.simulation.servo.drives.drive import Drive, Number

DRIVES: dict[str, Drive] = {module.DRIVE.name: module.DRIVE for module in (pd, voltage, current)}

__all__ = ['DRIVES', 'Drive', 'Number']
