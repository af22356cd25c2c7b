"""
A rehearsal: predicted deviations of an identification, from a simulated one.

White torque noise alone makes a prediction that is too good where it is small: quantised and noisy
positions make errors of the derivatives, friction is not quite sign(dq), the loop is sampled. So
the motion is run once in simulation, in the robot's own loop and with its own noise, and
identified with the default options; the deviations are those that the identification reports.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.blas_threads import one_blas_thread
from robot_id.dynamics import Disturbances
from robot_id.exceptions import RobotIdError
from robot_id.excitation.design import Excitation
from robot_id.excitation.deviations import Deviations
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.robot import Robot
from robot_id.tasks.recording import record
from robot_id.trajectory import Trajectory
from robot_id.trajectory.trajectory import Array


@one_blas_thread()
def rehearse(
    robot: Robot,
    motion: Trajectory,
    expected: Array,
    torque_std: Array,
    loop: str = 'default',
    seed: int = 0,
) -> Deviations:
    """
    Simulate the motion and return the deviations that IDIM-WLS reports.

    :param expected: (b,) parameters of the simulated robot.
    :param torque_std: (n,) noise of the torque samples; that of the positions is the robot file's.
    """
    noise = replace(Disturbances.of_robot(robot, seed), torque_std=np.asarray(torque_std, float))
    own = robot.loop(loop)
    measured = record(robot, motion, loop=own, parameters=expected, disturbances=noise)
    result = IdimWls().estimate(robot, measured)
    return Deviations(robot.base.names, np.asarray(expected, float), result.std)


@one_blas_thread()
def rehearsed(robot: Robot, found: Excitation, loop: str = 'default') -> Excitation:
    """
    Return an excitation with the deviations of a rehearsal.

    Where none is possible (no control loop, no friction known, a motion the loop cannot follow)
    the deviations for the torque noise alone stay, and a note says why. Those of a load stay too.
    """
    if found.options.purpose != 'arm':
        return found
    try:
        known = rehearse(
            robot, found.trajectory, found.deviations.expected, found.torque_std, loop
        )
    except RobotIdError as error:
        note = f'deviations for white torque noise alone: no simulated identification ({error})'
        return replace(found, notes=(*found.notes, note))
    note = (
        f"deviations of IDIM-WLS on a simulation in the loop '{loop}' with this torque noise and "
        "the robot file's position noise"
    )
    return replace(found, deviations=known, prediction='rehearsal', notes=(*found.notes, note))
