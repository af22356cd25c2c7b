"""Numbers fast: regressors, inverse and direct dynamics, the closed-loop simulator."""

from robot_id.dynamics.controller import Controller, Law
from robot_id.dynamics.derivatives import derivatives
from robot_id.dynamics.direct import direct_dynamics, smallest_inertia_eigenvalue
from robot_id.dynamics.inverse import bias, body_torques, inertia_matrix, inverse_dynamics
from robot_id.dynamics.regressor import regressor
from robot_id.dynamics.regressor_slopes import regressor_slopes
from robot_id.dynamics.simulation import Disturbances, Simulation, simulate, simulate_many
from robot_id.dynamics.warm_up import cold_kernels, warm_up

__all__ = [
    'Controller',
    'Disturbances',
    'Law',
    'Simulation',
    'bias',
    'body_torques',
    'cold_kernels',
    'derivatives',
    'direct_dynamics',
    'inertia_matrix',
    'inverse_dynamics',
    'regressor',
    'regressor_slopes',
    'simulate',
    'simulate_many',
    'smallest_inertia_eigenvalue',
    'warm_up',
]
