"""Methods that need no torque: from commanded and measured positions."""

# Methods that need no torques, but commands.
TORQUE_FREE = ('servo_oe',)
