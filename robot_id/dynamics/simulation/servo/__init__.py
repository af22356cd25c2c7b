"""A robot behind position servos: drives, friction with stick, and the loop with sensitivities."""
