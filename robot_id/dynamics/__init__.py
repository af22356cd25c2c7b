"""Regressors, inverse and direct dynamics, the closed-loop simulator, all compiled."""

from robot_id.dynamics.acting_rows import ActingRows
from robot_id.dynamics.inverse import (
    bias,
    body_torques,
    derivatives,
    direct_dynamics,
    inertia_matrix,
    inverse_dynamics,
)
from robot_id.dynamics.positive_inertia import positive_on_motion, smallest_inertia_eigenvalue
from robot_id.dynamics.regressor import regressor, regressor_slopes
from robot_id.dynamics.simulation.closed_loop import simulate, simulate_many
from robot_id.dynamics.simulation.controller import Controller, Law, RunningController
from robot_id.dynamics.simulation.disturbances import Disturbances, Simulation
from robot_id.dynamics.simulation.plant import Plant
from robot_id.dynamics.warm_up import cold_kernels, warm_up

__all__ = [
    'ActingRows',
    'Controller',
    'Disturbances',
    'Law',
    'Plant',
    'RunningController',
    'Simulation',
    'bias',
    'body_torques',
    'cold_kernels',
    'derivatives',
    'direct_dynamics',
    'inertia_matrix',
    'inverse_dynamics',
    'positive_on_motion',
    'regressor',
    'regressor_slopes',
    'simulate',
    'simulate_many',
    'smallest_inertia_eigenvalue',
    'warm_up',
]
