"""One run beside the measurements: of the robot's loop, of an assumed one, or of a rigid one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics import Controller, Simulation, inverse_dynamics, simulate
from robot_id.dynamics.simulation import stable_substeps
from robot_id.exceptions import SimulationError
from robot_id.model import Robot
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]
# 'known': of the robot file or fitted to it; 'assumed': any that moves the model as the robot
# moved; 'rigid': the limit of a stiff one, whose motion is the reference.
Kind = Literal['known', 'assumed', 'rigid']
# A stiff loop is there to move the model: one that needs finer steps is the wrong one [1/s].
MOST_STEPS_PER_SECOND = 20e3
# Largest rms of its velocity errors, relative to the joint's own rms velocity and a share of the
# fastest joint's: a stiff loop must follow; one that is known or fitted may lag and ring, but one
# that moves so much more than it was told has lost its inertias.
FOLLOWS, OSCILLATES, SHARE_OF_FASTEST = 0.5, 30.0, 0.1


def simulated_run(
    robot: Robot, chi: Array, reference: Reference, law: Controller, slope: float, stiff: bool
) -> Simulation:
    """
    Return what the model chi does on a reference.

    :param law: with gains; its rate is that of the reference.
    :param slope: alpha of the friction.
    :param stiff: nobody's loop, which must follow cheaply or give way to another one.
    :raises SimulationError: also where the loop oscillates, or a stiff one needs too fine steps.
    """
    # An estimate far from the robot asks for other torques: it is not saturated.
    law = replace(law, rate_hz=reference.rate, torque_limit=np.full(robot.n, np.inf))
    substeps = stable_substeps(robot, chi, reference.step, slope)
    if stiff and substeps * reference.rate > MOST_STEPS_PER_SECOND:
        raise SimulationError(
            f'{robot.name}: its friction on such small inertias needs '
            f'{substeps * reference.rate:.2g} simulation steps per second'
        )
    made = simulate(robot, chi, reference, law, coulomb_slope=slope, substeps=substeps)
    rms = np.sqrt(np.mean(reference.velocity**2, axis=0))
    error = np.sqrt(np.mean((made.velocity - reference.velocity) ** 2, axis=0))
    allowed = FOLLOWS if stiff else OSCILLATES
    late = error - allowed * (rms + SHARE_OF_FASTEST * rms.max())
    if np.any(late > 0.0):
        joint = robot.joint_names[int(np.argmax(late))]
        raise SimulationError(f"{robot.name}: joint '{joint}' oscillates", joint=joint)
    return made


def on_reference(robot: Robot, chi: Array, reference: Reference, slope: float) -> Simulation:
    """
    Return the limit of an ever stiffer loop: the motion is the reference, tau = W(reference) chi.

    It exists for any parameters, also for those without a direct model.
    """
    q, dq, ddq = reference.position, reference.velocity, reference.acceleration
    torque = inverse_dynamics(robot, chi, q, dq, ddq, slope)
    return Simulation(reference, q, dq, ddq, torque, q, torque)
