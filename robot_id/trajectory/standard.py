"""Motions of the papers."""

from __future__ import annotations

import numpy as np

from robot_id.exceptions import TrajectoryError, did_you_mean
from robot_id.trajectory.fourier import Fourier
from robot_id.trajectory.trajectory import Trajectory
from robot_id.trajectory.trapezoid import Trapezoid


def emps_cycle() -> Trapezoid:
    """
    Return the cycle of paper 003: trapezoidal velocities of several amplitudes, 6.2 s, closed.

    The paper prints the shape and the length only; way points and times are ours: 0.25 m of
    stroke, cruise speeds from 0.06 to 0.36 m/s, 2.5 m/s^2.
    """
    return Trapezoid(
        waypoints=[[0.0], [0.25], [0.05], [0.15], [0.1], [0.2], [0.0]],
        velocity=0.5,
        acceleration=2.5,
        durations=[0.9, 0.8, 1.1, 0.9, 1.2, 0.7],
        dwell=0.1,
        periodic=True,
    )


def scara_multisine() -> Fourier:
    """
    Return sines that even a slow shoulder loop can follow: 0.1 to 0.28 Hz, the elbow to 0.83 Hz.

    Paper 000 prints no motion; with the loop of its robot (1 and 10 rad/s) faster references of
    the shoulder would not move it.
    """
    sine = np.zeros((2, 33))
    sine[0, [3, 6, 10]] = 1.2, -0.9, 0.6
    sine[1, [14, 23, 32]] = 0.7, -0.6, 0.5
    return Fourier.at_rest(40.0, [0.0, 0.0], sine, np.zeros_like(sine))


STANDARD = {'emps_cycle': emps_cycle, 'scara_multisine': scara_multisine}


def standard_trajectory(name: str) -> Trajectory:
    """Return a motion by its name."""
    if name not in STANDARD:
        hint = did_you_mean(name, (*STANDARD, 'random'))
        raise TrajectoryError(f"no standard trajectory '{name}': {hint}", key=name)
    return STANDARD[name]()
