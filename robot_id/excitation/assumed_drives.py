"""Rotors and friction of a usual size, for a robot whose URDF has inertias alone."""

from __future__ import annotations

import numpy as np

from robot_id import dynamics
from robot_id.robot import Robot
from robot_id.trajectory.random import random_trajectory
from robot_id.trajectory.trajectory import Array

# Friction as shares of the rms torque, Coulomb and viscous each; rotor inertias as shares of the
# mean inertia that the joint moves. MuJoCo's arms, UR and Franka have 3 to 15 %, and 10 to 60 %.
FRICTION, ROTOR = 0.1, 0.3
# A fast motion, and the Hz at which it is looked at for them.
SECONDS, LOOK_HZ = 10.0, 50.0
NOTE = (
    f'rotors and friction are not known: {100 * ROTOR:g} % of the inertia, and '
    f'{100 * FRICTION:g} % of the torque each for Coulomb and viscous friction assumed'
)


def drives_assumed(robot: Robot, expected: Array) -> Array:
    """
    (b,) what rotors and friction of a usual size add to the parameters of rigid links.

    :param expected: (b,) of the links.
    """
    motion = random_trajectory(robot.limits, SECONDS, seed=0)
    states = motion.sample(np.arange(0.0, motion.duration, 1.0 / LOOK_HZ))
    tau = dynamics.inverse_dynamics(robot, expected, *states)
    inertia = np.einsum('kjj->j', dynamics.inertia_matrix(robot, expected, states[0]))
    rms = np.sqrt(np.mean(tau**2, axis=0))
    speed = np.sqrt(np.mean(states[1] ** 2, axis=0))
    friction = FRICTION * np.maximum(rms, FRICTION * rms.max())
    sizes = {
        'Ia': ROTOR * inertia / len(tau),
        'Fv': friction / np.maximum(speed, 1e-6),
        'Fc': friction,
    }
    values = {f'{name}{j + 1}': float(v[j]) for name, v in sizes.items() for j in range(robot.n)}
    own = {name: value for name, value in values.items() if name in robot.standard_names}
    return robot.base.from_standard(robot.standard_vector(own, 'assumed drives'))
