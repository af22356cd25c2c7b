"""
A rehearsal: the deviations that an identification will report, and its verdict, by simulation.

White torque noise alone makes a prediction that is too good where it is small: quantised and noisy
positions make errors of the derivatives, friction is not quite sign(dq), the loop is sampled. So
the motion is run once in simulation, in the robot's own loop and with its own noise, and
identified with the default options; check, deviations and verdict are those of that recording.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.blas_threads import one_blas_thread
from robot_id.control.tuning import loop_setting
from robot_id.dynamics import Disturbances
from robot_id.exceptions import RobotIdError
from robot_id.excitation.design import Excitation, Rehearsal
from robot_id.excitation.deviations import Deviations
from robot_id.robot import Robot
from robot_id.tasks.identify import Request, identify
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
) -> tuple[Deviations, Rehearsal]:
    """
    Simulate the motion; return the deviations of IDIM-WLS, and the verdict on it.

    :param expected: (b,) parameters of the simulated robot.
    :param torque_std: (n,) noise of the torque samples; that of the positions is the robot file's.
    """
    noise = replace(Disturbances.of_robot(robot, seed), torque_std=np.asarray(torque_std, float))
    own = loop_setting(robot, loop)
    measured = record(robot, motion, loop=own, parameters=expected, disturbances=noise)
    result = identify(Request(robot, measured)).result
    known = Deviations(robot.base.names, np.asarray(expected, float), result.std)
    return known, Rehearsal(str(result.verdict), result.reasons)


@one_blas_thread()
def rehearsed(robot: Robot, found: Excitation, loop: str = 'default') -> Excitation:
    """
    Return an excitation with the deviations and the verdict of a rehearsal.

    Where none is possible (nothing expected, a motion the loop cannot follow) the deviations for
    the torque noise alone stay, and a note says why. Those of a load, and those of a motion that
    adds to recordings, stay too.
    """
    if found.options.purpose != 'arm' or found.after_s > 0.0:
        return found
    expected, notes = found.deviations.expected, list(found.notes)
    try:
        known, verdict = rehearse(robot, found.trajectory, expected, found.torque_std, loop)
    except RobotIdError as error:
        note = f'standard deviations for white torque noise alone, nothing simulated: {error}'
        return replace(found, notes=(*found.notes, note))
    named = f"the loop '{loop}'" if robot.description.loops else 'a soft loop of computed torque'
    notes.append(
        f'standard deviations from a simulated identification by idim_wls in {named}, with this '
        f"torque noise and the robot file's position noise; its verdict: {verdict.verdict}"
    )
    return replace(
        found, deviations=known, prediction='rehearsal', notes=tuple(notes), rehearsal=verdict
    )
