"""Trajectories: trapezoid, quintic, Fourier, sampled motion; reading, writing and limits."""

from robot_id.trajectory.blend import approach, blend
from robot_id.trajectory.concatenate import Concatenation, cycle
from robot_id.trajectory.default import STANDARD, emps_cycle, standard_trajectory
from robot_id.trajectory.derived import Shifted, SlowDown, TimeScaled, slow_down
from robot_id.trajectory.fourier import Fourier
from robot_id.trajectory.piecewise import PiecewisePolynomial
from robot_id.trajectory.quintic import Quintic
from robot_id.trajectory.reference import Reference
from robot_id.trajectory.sampled_motion import SampledMotion
from robot_id.trajectory.select import Selection
from robot_id.trajectory.store import load_trajectory, make_trajectory, save_trajectory
from robot_id.trajectory.trajectory import Extremes, Trajectory
from robot_id.trajectory.trapezoid import Trapezoid
from robot_id.trajectory.waypoints import Waypoints, waypoints

__all__ = [
    'STANDARD',
    'Concatenation',
    'Extremes',
    'Fourier',
    'PiecewisePolynomial',
    'Quintic',
    'Reference',
    'SampledMotion',
    'Selection',
    'Shifted',
    'SlowDown',
    'TimeScaled',
    'Trajectory',
    'Trapezoid',
    'Waypoints',
    'approach',
    'blend',
    'cycle',
    'emps_cycle',
    'load_trajectory',
    'make_trajectory',
    'save_trajectory',
    'slow_down',
    'standard_trajectory',
    'waypoints',
]
