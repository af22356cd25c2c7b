"""The one plant and the one closed loop, with their controller, noise and sensitivities."""
