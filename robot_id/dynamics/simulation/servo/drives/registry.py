"""All drives by name. A new one is one file in this folder and one line here."""

from __future__ import annotations

from robot_id.dynamics.simulation.servo.drives import current, pd, voltage
from robot_id.dynamics.simulation.servo.drives.drive import Drive

DRIVES: dict[str, Drive] = {module.DRIVE.name: module.DRIVE for module in (pd, voltage, current)}
