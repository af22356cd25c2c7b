"""
Bounds on a model from both sides: against the nominal robot, the last model, the torque limits.

Eigenvalues of the new M(q) relative to another one's (M v = lambda M_other v) are the factors by
which the kinetic energy of any motion changes, so one range holds for every parameter of every
robot, whatever its size.

How fast the torque may move to a new model, so that the robot keeps its speed limits.

During a blend the error follows the torque that the model changes by: e = M^-1 dtau / Kp once it
is slow against the loop, so the robot leaves its reference at the speed (d tau/dt) / (M Kp). The
start of such a ramp accelerates it by at most that speed times wn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.payload import inertial_parameters
from robot_id.dynamics.inverse import inertia_matrix, inverse_dynamics
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.robot import Robot
from robot_id.trajectory.random import USUAL_ACCELERATION, USUAL_VELOCITY

Array = NDArray[np.float64]
# Ranges of the eigenvalues of M against another M [-]. Nominal values tend to leave out bodies, so
# there is more room above; a URDF also leaves out the drives, whose inertia can be many times that
# of a wrist, so there is no bound above. A robot that was identified does not change by more.
NOMINAL, WITHOUT_DRIVES, IDENTIFIED = (0.2, 8.0), (0.2, float('inf')), (1.0 / 3.0, 3.0)
# Share of its acceleration limit that a joint reaches alone with its torque limit, at least [-].
ACCELERATION_SHARE = 0.1
WAY_OUT = 'correct the values, or the robot file; or name who forces it, and why'
# Share of a joint's velocity and acceleration limit that a blend may add to its motion [-].
BLEND_SHARE = 0.1


@dataclass(frozen=True)
class Other:
    """
    A model that a new one is held against.

    :param parameters: (b,).
    :param name: what to call it.
    :param factors: least and largest eigenvalue of the new M against its M.
    """

    parameters: Array
    name: str
    factors: tuple[float, float] = NOMINAL


def nominal_model(robot: Robot) -> Other | None:
    """Return the a priori values of the robot file, else the inertias of its URDF, else None."""
    if robot.description.a_priori:
        return Other(robot.a_priori(), 'the a priori values of the robot file')
    standard = np.zeros(len(robot.standard_names))
    standard[robot.inertial_index] = robot.kinematics.inertia
    if not np.any(standard):
        return None
    return Other(robot.base.from_standard(standard), 'the URDF', WITHOUT_DRIVES)


def far_from(robot: Robot, chi: Array, other: Other) -> str:
    """
    Return where M(q) is far from that of another model, '' when it is nowhere.

    :param chi: (b,) new values.
    """
    q = sample_configurations(robot)
    try:
        L = np.linalg.cholesky(inertia_matrix(robot, other.parameters, q))
    except np.linalg.LinAlgError:
        return ''
    M = inertia_matrix(robot, chi, q)
    if not np.all(np.isfinite(M)):
        return 'M_hat is not finite'
    half = np.linalg.solve(L, M)
    relative = np.linalg.solve(L, np.swapaxes(half, 1, 2))
    eigenvalues = np.linalg.eigvalsh(0.5 * (relative + np.swapaxes(relative, 1, 2)))
    low, high = int(np.argmin(eigenvalues[:, 0])), int(np.argmax(eigenvalues[:, -1]))
    least, largest = float(eigenvalues[low, 0]), float(eigenvalues[high, -1])
    smallest_factor, largest_factor = other.factors
    if least < smallest_factor:
        return _far(robot, chi, other, q[low], least, f'at least {smallest_factor:.3g}')
    if largest > largest_factor:
        return _far(robot, chi, other, q[high], largest, f'at most {largest_factor:.3g}')
    return ''


def _far(robot: Robot, chi: Array, other: Other, q: Array, factor: float, bound: str) -> str:
    """Name the joint whose own inertia differs most where the factor was found."""
    new = np.diag(inertia_matrix(robot, chi, q[None])[0])
    old = np.diag(inertia_matrix(robot, other.parameters, q[None])[0])
    with np.errstate(divide='ignore', invalid='ignore'):
        apart = np.abs(np.log(np.abs(new) / old))
    joint = robot.joint_names[int(np.argmax(np.nan_to_num(apart, nan=np.inf)))]
    return (
        f"the inertia of joint '{joint}' is far from {other.name}: M_hat is {factor:.3g} times "
        f'theirs in one direction, allowed is {bound}'
    )


def beyond_torque(robot: Robot, chi: Array) -> str:
    """
    Return which joint's torque limit does not suffice for a model, '' when all do.

    The limit must hold the robot against gravity in every posture, move it against friction, and
    accelerate each joint alone by a tenth of its limit.
    """
    limits = robot.limits
    q = sample_configurations(robot)
    rest = np.zeros_like(q)
    gravity = np.abs(inverse_dynamics(robot, chi, q, rest, rest)).max(axis=0)
    speed = np.minimum(limits.velocity, USUAL_VELOCITY)
    friction = np.abs(_friction(robot, chi, speed)).max(axis=0)
    inertia = np.abs(np.diagonal(inertia_matrix(robot, chi, q), axis1=1, axis2=2)).max(axis=0)
    acceleration = ACCELERATION_SHARE * np.minimum(limits.acceleration, USUAL_ACCELERATION)
    for what, needed in (
        ('to hold it against gravity', gravity),
        ('to move it against friction', friction),
        ('to accelerate it', inertia * acceleration),
    ):
        over = ~(needed <= limits.torque)
        if over.any():
            j = int(np.argmax(np.nan_to_num(needed / limits.torque, nan=np.inf)))
            return (
                f"joint '{robot.joint_names[j]}' needs {needed[j]:.3g} {what}, its torque limit "
                f'is {limits.torque[j]:.3g}'
            )
    return ''


def _friction(robot: Robot, chi: Array, speed: Array) -> Array:
    """(4, n) torque of friction and offsets at a tenth of a speed (n,) and at it, both ways."""
    alone = np.where(inertial_parameters(robot), 0.0, chi)
    dq = np.outer([-1.0, -0.1, 0.1, 1.0], speed)
    rest = np.zeros_like(dq)
    return inverse_dynamics(robot, alone, rest, dq, rest)


def blend_rate(robot: Robot, chi: Array, kp: Array) -> Array:
    """
    (n,) the largest change of each joint's torque in a second, N.m/s or N/s.

    :param chi: (b,) the new model, whose smallest inertia of each joint counts.
    :param kp: (n,) wn^2 of the loop, 1/s^2.
    """
    limits = robot.limits
    v = np.where(np.isfinite(limits.velocity), limits.velocity, USUAL_VELOCITY)
    a = np.where(np.isfinite(limits.acceleration), limits.acceleration, USUAL_ACCELERATION)
    M = inertia_matrix(robot, chi, sample_configurations(robot))
    inertia = np.diagonal(M, axis1=1, axis2=2).min(axis=0)
    speed = BLEND_SHARE * np.minimum(v, a / np.sqrt(kp))
    return np.asarray(inertia * kp * speed, float)
