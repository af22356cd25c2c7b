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

from robot_id import dynamics
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

# Of a robot whose URDF has inertias alone: Coulomb and viscous friction as shares of the rms
# torque, rotor inertias as shares of the mean inertia that the joint moves. MuJoCo's arms, UR and
# Franka have 3 to 15 %, and 10 to 60 %.
FRICTION, ROTOR = 0.1, 0.3
# Hz at which a motion is looked at for them.
LOOK_HZ = 50.0


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
        if not robot.description.truth and not robot.description.a_priori:
            expected = expected + drives_assumed(robot, found.trajectory, expected)
            notes.append(
                f'rotors and friction are not known: for the rehearsal {100 * ROTOR:g} % of the '
                f'inertia, and {100 * FRICTION:g} % of the torque each for Coulomb and viscous '
                'friction'
            )
        known, verdict = rehearse(robot, found.trajectory, expected, found.torque_std, loop)
    except RobotIdError as error:
        note = f'deviations for white torque noise alone: no simulated identification ({error})'
        return replace(found, notes=(*found.notes, note))
    named = f"the loop '{loop}'" if robot.description.loops else 'a soft loop of computed torque'
    notes.append(
        f'deviations of IDIM-WLS on a simulation in {named} with this torque noise and the robot '
        f"file's position noise; verdict on it: {verdict.verdict}"
    )
    return replace(
        found, deviations=known, prediction='rehearsal', notes=tuple(notes), rehearsal=verdict
    )


def drives_assumed(robot: Robot, motion: Trajectory, expected: Array) -> Array:
    """
    (b,) what rotors and friction of a usual size add to the parameters of rigid links.

    :param expected: (b,) of the links.
    """
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
    return robot.base.from_standard(robot.standard_vector(own, 'rehearsal'))
