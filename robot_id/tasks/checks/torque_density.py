"""
The size of the torques where the robot file brings no inertias: arms are about equally dense.

An arm of reach L behind a joint loads it with at most g rho L^3. Over thirty arms from 0.2 to 1.5
m (example-robot-data) rho is 2.6 to 17 kg/m^3, with a lifting axis 63: small and large ones are
built alike. A wrong unit, or torques of the motor side, are decades away from that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.tasks.checks import mapped_units
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.models import Explanation

Array = NDArray[np.float64]

# What arms have, kg/m^3, with room beyond what was seen; and their middle.
LEAST, MOST, TYPICAL = 0.3, 150.0, 6.0
# Between the densest arm in kN.m and the lightest one before gears of 50; between the densest in
# N.cm and the lightest in N.mm, where these two cannot be distinguished within a factor of 2.
KILO, MILLI = 0.03, 2100.0
# Shorter arms than this are all housing, m; gravity must have this share of a torque to be known.
SHORTEST, SHARE = 0.1, 0.3
POSTURES = 200


def detect(case: Case, explanation: Explanation) -> list[Finding]:
    """Compare the gravity torques of the recording with those of arms of this length."""
    found = _density(case, explanation)
    if found is None:
        return []
    name, reach, recorded, largest = found
    if largest >= LEAST and recorded <= MOST:
        return []
    small = largest < LEAST
    rho = float(np.sqrt(recorded * largest))
    text = (
        f"gravity loads '{name}' with {9.81 * rho * reach**3:.2g} N.m behind an arm of "
        f'{reach:.2g} m, {rho / TYPICAL:.1g} times what arms of this length have'
    )
    named = mapped_units.others(case.dataset, 'torque', 'N.m')
    if mapped_units.is_signal(case.dataset):
        likely = [unit for unit, size in named.items() if size > 1.0 and rho > MILLI / 2.0]
        if not likely:
            fix = 'torque.scale in the mapping: the drive gain with the gear ratio in it'
            return [Finding('gear_ratio', None, 0.9, f'{text}: a wrong drive gain', fix)]
        named, unit = {unit: named[unit] for unit in likely}, likely[0]
    elif small and rho > KILO:
        return [
            Finding(
                'gear_ratio',
                None,
                0.9,
                f'{text}: torques of the motor side, before the gears',
                'torque.scale: [gear ratio of each joint] or torque.motor_matrix in the mapping',
            )
        ]
    elif not small and MILLI / 2.0 < rho < MILLI * 2.0:
        fix = 'torque.unit: N.cm or N.mm in the mapping, whichever it is'
        return [Finding('torque_unit', None, 0.9, f'{text}: they are in N.cm or N.mm', fix)]
    else:
        unit = 'kN.m' if small else 'N.mm' if rho > MILLI else 'N.cm'
    size = named.get(unit)
    remedy = None if size is None else Remedy(torque_scale=(1.0 / size,) * case.robot.n)
    fix = f'torque.unit: {unit} in the mapping'
    return [Finding('torque_unit', None, 0.9, f'{text}: they are in {unit}', fix, remedy)]


def _density(case: Case, explanation: Explanation) -> tuple[str, float, float, float] | None:
    """
    Return joint, reach and density by the recorded and by any postures, of the most loaded joint.

    None where gravity has too little of every torque, or the free model does not explain it.
    """
    robot, s = case.models.robot, case.signals
    g = float(np.linalg.norm(robot.gravity))
    reach = np.where(case.robot.prismatic, 0.0, _reaches(case))
    if g == 0.0 or not np.any(reach > SHORTEST):
        return None
    recorded = _gravity(case, explanation.chi, s.q[:: max(len(s.q) // POSTURES, 1)])
    moved = np.ptp(recorded, axis=0) / 2.0
    known = (explanation.free < 0.3) & (moved > SHARE * np.std(s.tau, axis=0))
    known &= (reach > SHORTEST) & explanation.moving
    if not known.any():
        return None
    j = int(np.argmax(np.where(known, moved, 0.0)))
    anywhere = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSTURES, robot.n))
    sliding = np.mean(s.q, axis=0)
    anywhere = np.where(case.robot.prismatic, sliding, anywhere)
    largest = np.abs(_gravity(case, explanation.chi, anywhere)[:, j]).max()
    volume = g * float(reach[j]) ** 3
    return case.names[j], float(reach[j]), float(moved[j]) / volume, float(largest) / volume


def _gravity(case: Case, chi: Array, q: Array) -> Array:
    """(N, n) torques of gravity in postures q (N, n), by the free model."""
    models, rest = case.models, np.zeros_like(q)
    W = dynamics.regressor(models.robot, q, rest, rest, standard=True)
    return np.asarray(W[:, :, models.free.columns] @ chi)


def _reaches(case: Case) -> Array:
    """(n,) length of the longest chain of bodies behind each joint, m."""
    kinematics = case.robot.kinematics
    steps = np.linalg.norm(kinematics.translation, axis=1)
    behind = np.zeros(len(steps))
    for body in range(len(steps) - 1, -1, -1):
        parent = kinematics.parent[body]
        if parent >= 0:
            behind[parent] = max(behind[parent], behind[body] + steps[body])
    return np.array([behind[kinematics.dof == j].max() for j in range(case.robot.n)])
