"""Control laws: joint PD cascade, computed torque, gains from the current estimate, ILIC."""
