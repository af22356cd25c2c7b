"""Control laws: joint PD cascade, computed torque, gains from the current estimate, ILIC."""

from robot_id.control.computed_torque import ComputedTorque
from robot_id.control.gains import loop_inertia, tune
from robot_id.control.ilic import Ilic, Update
from robot_id.control.payload import PayloadEstimate
from robot_id.control.plant import SimulatedPlant

__all__ = [
    'ComputedTorque',
    'Ilic',
    'PayloadEstimate',
    'SimulatedPlant',
    'Update',
    'loop_inertia',
    'tune',
]
