"""Control laws: joint PD cascade, computed torque, gains from the current estimate, ILIC."""

from robot_id.control import warm_up  # noqa: F401  adds its kernel to those of dynamics
from robot_id.control.gains import loop_inertia
from robot_id.control.learning.ilic import Ilic, Update
from robot_id.control.runtime.computed_torque import ComputedTorque
from robot_id.control.runtime.payload import PayloadEstimate
from robot_id.control.tuning import tune

__all__ = [
    'ComputedTorque',
    'Ilic',
    'PayloadEstimate',
    'Update',
    'loop_inertia',
    'tune',
]
