"""Trajectories: trapezoid, quintic, Fourier, playback, and excitation optimisation."""
