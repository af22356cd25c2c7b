"""Motions of the papers, ready to play."""

from __future__ import annotations

from robot_id.exceptions import TrajectoryError, did_you_mean
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


STANDARD = {'emps_cycle': emps_cycle}


def standard_trajectory(name: str) -> Trajectory:
    """Return a motion by its name."""
    if name not in STANDARD:
        raise TrajectoryError(f"no standard trajectory '{name}': {did_you_mean(name, STANDARD)}")
    return STANDARD[name]()
