"""Methods that need no torque: from commanded and measured positions."""
