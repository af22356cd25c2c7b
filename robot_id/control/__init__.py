"""Control laws: joint PD cascade, computed torque, gains from the current estimate, ILIC."""

from robot_id.control.gains import loop_inertia, tune

__all__ = ['loop_inertia', 'tune']
