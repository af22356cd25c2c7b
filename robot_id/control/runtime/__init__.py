"""What runs a law on a robot: one computed torque step, guards, references, payload."""
