"""Random robots that could exist: serial, revolute, of real bodies, with a loop and its noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.control.gains import loop_inertia
from robot_id.dynamics import inertia_matrix, inverse_dynamics
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.robot import Robot, RobotDescription, build_robot
from robot_id.trajectory.random import random_trajectory

Array = NDArray[np.float64]
MOST_JOINTS = 8
BANDWIDTH, RATE_HZ = 125.0, 1000.0
STABLE = 0.8
ENCODER_STEP = 2.0 * np.pi / 2**17
# Of the torques along a random trajectory.
NOISE_SHARE = 0.02


def random_robot(seed: int, joints: int) -> Robot:
    """
    Return the robot of a seed: a random modified-DH table, bodies that are clouds of mass points.

    Bodies, drives and speeds go from shoulder to wrist as on an arm; the loop is a PD at 1 kHz of
    20 Hz, or what is stable; the torque noise is 2 % of the torques of a random trajectory.

    :param joints: 1 to 8, all revolute.
    """
    rng = np.random.default_rng([seed, joints])
    size = np.geomspace(1.0, 0.3, joints) if joints > 1 else np.ones(1)
    description: dict[str, Any] = {
        'name': f'random{joints}_{seed}',
        'mdh': [_row(rng, j) for j in range(joints)],
        'joints': [
            {
                'name': f'joint_{j + 1}',
                'friction': ['viscous', 'coulomb'],
                'limits': {
                    'position': [-2.5, 2.5],
                    'velocity': float(3.0 / np.sqrt(size[j])),
                    'acceleration': float(12.0 / size[j]),
                },
            }
            for j in range(joints)
        ],
        'truth': _truth(rng, size),
    }
    robot = build_robot(RobotDescription.model_validate(description), Path())
    description['loops'] = {
        'default': {
            'law': 'pd',
            'bandwidth': [_bandwidth(robot)] * joints,
            'damping': [1.0] * joints,
            'rate_hz': RATE_HZ,
        }
    }
    noise = {'encoder_step': [ENCODER_STEP] * joints, 'torque_std': _torque_noise(robot)}
    full = RobotDescription.model_validate({**description, 'noise': noise})
    return build_robot(full, Path())


def _bandwidth(robot: Robot) -> float:
    """
    Return the largest bandwidth up to 20 Hz at which the sampled loop is stable everywhere.

    Gains 2 wn J_j of joints that move each other act on less than J_j: on M(q). The velocity of a
    sampled loop dies out while 2 wn h times the largest eigenvalue of M(q)^-1 diag(J) is below 1.
    """
    truth = robot.truth()
    M = inertia_matrix(robot, truth, sample_configurations(robot))
    J = np.diag(loop_inertia(robot, truth))
    largest = np.abs(np.linalg.eigvals(np.linalg.solve(M, J))).max()
    return float(min(BANDWIDTH, STABLE * RATE_HZ / (2.0 * largest)))


def _row(rng: np.random.Generator, j: int) -> dict[str, float]:
    """Return a row of the table: right angles as on most arms, lengths of an arm."""
    if j == 0:
        return {}
    alpha = float(rng.choice([-0.5, 0.0, 0.5])) * np.pi
    return {
        'alpha': alpha,
        'd': round(float(rng.uniform(0.05, 0.4)), 3),
        'r': round(float(rng.uniform(-0.2, 0.2)), 3),
    }


def _truth(rng: np.random.Generator, size: Array) -> dict[str, float]:
    """Return the standard parameters of all joints, by name."""
    truth: dict[str, float] = {}
    for j, scale in enumerate(size, start=1):
        for key, value in _body(rng, scale).items():
            truth[f'{key}{j}'] = value
        truth[f'Ia{j}'] = float(scale**3 * rng.uniform(0.3, 1.5))
        truth[f'Fv{j}'] = float(scale**2 * rng.uniform(1.0, 8.0))
        truth[f'Fc{j}'] = float(scale**2 * rng.uniform(2.0, 10.0))
    return truth


def _body(rng: np.random.Generator, scale: float) -> dict[str, float]:
    """Return the ten parameters of a cloud of mass points, at the origin of its frame."""
    mass, points = scale * rng.uniform(0.3, 2.0, 6), scale * rng.uniform(-0.25, 0.25, (6, 3))
    x, y, z = points.T
    values = {
        'XX': mass @ (y * y + z * z), 'XY': -mass @ (x * y), 'XZ': -mass @ (x * z),
        'YY': mass @ (x * x + z * z), 'YZ': -mass @ (y * z), 'ZZ': mass @ (x * x + y * y),
        'MX': mass @ x, 'MY': mass @ y, 'MZ': mass @ z, 'M': mass.sum(),
    }  # fmt: skip
    return {key: float(value) for key, value in values.items()}


def _torque_noise(robot: Robot) -> list[float]:
    """(n,) a share of the rms torque of a random trajectory."""
    motion = random_trajectory(robot.limits, 10.0).sampled(50.0)
    torque = inverse_dynamics(
        robot, robot.truth(), motion.position, motion.velocity, motion.acceleration
    )
    return [float(v) for v in NOISE_SHARE * np.sqrt(np.mean(torque**2, axis=0))]
