"""
Changes of the gears between two recordings, so that they are not taken for a load.

Friction and offsets drift with temperature from one recording to the next: each loaded recording
has its own. Loaded teeth have more friction, Fl_j sign(dq_j) |tau_j|: a load would otherwise look
heavier one way and lighter the other.

Which torque presses the teeth is not known: that behind the gear, that of the motor, which has
the friction too, or one between. The two differ by Fl_j times the friction, and of the part that
grows with the load Fl_j^2 tau_j is left: a drive gain that is wrong by Fl_j^2, so all bodies look
heavier by that share, and no motion tells (5 % of friction: 0.25 % of the mass). The middle of
both is fitted, and the distance between the two counts as a deviation, as of a value that may lie
anywhere between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robot_id.robot import Robot
from robot_id.robot.friction import COLUMNS, ROTOR
from robot_id.robot.friction.columns import friction_parameters
from robot_id.robot.friction.replacement import with_friction
from robot_id.tasks.payload.solution import Solution, solve

Array = NDArray[np.float64]
# Where the torque that presses the teeth is taken: behind them, in the middle, at the motor.
BEHIND, MIDDLE, MOTOR = 0.0, 0.5, 1.0


def coulomb_parameters(robot: Robot) -> list[tuple[int, int]]:
    """Return (joint, place among the base parameters) of the Coulomb friction of each joint."""
    terms, found = robot.terms, []
    columns = robot.base.columns.tolist()
    for parameter, kind, row in zip(terms.parameter, terms.kind, terms.row):
        if kind == ROTOR or COLUMNS[kind - 1][0].name != 'coulomb':
            continue
        column = int(robot.term_index[parameter])
        own = terms.names[parameter] == COLUMNS[kind - 1][1].name.format(row + 1)
        if own and column in columns:
            found.append((int(row), columns.index(column)))
    return found


def dissipative_parameters(robot: Robot) -> NDArray[np.intp]:
    """Return the places of friction among the base parameters, offsets of the torque left out."""
    terms, offsets = robot.terms, set()
    for parameter, kind in zip(terms.parameter, terms.kind):
        if kind != ROTOR and COLUMNS[kind - 1][0].name == 'offset':
            offsets.add(int(robot.term_index[parameter]))
    places = friction_parameters(robot)
    kept = [int(robot.base.columns[place]) not in offsets for place in places]
    return places[np.array(kept, dtype=bool)]


def without_load_terms(robot: Robot) -> Robot:
    """Return the robot without friction that grows with the load, which has separate columns."""
    loaded = {term.name for term, _ in COLUMNS if term.modulation == 'load'}
    kept = {joint.name: [t for t in joint.friction if t not in loaded] for joint in robot.joints}
    if all(len(kept[joint.name]) == len(joint.friction) for joint in robot.joints):
        return robot
    return with_friction(robot, kept)


def load_friction(robot: Robot, W: Array, torque: Array) -> Array:
    """
    Return the columns of friction that grows with the load.

    :param W: (M, n, b) rows, whose Coulomb columns give the direction.
    :param torque: (M, n) of rigid bodies, rotors and load.
    :return: (M, n, c) sign(dq_j) |torque_j| for each joint with Coulomb friction.
    """
    places = coulomb_parameters(robot)
    columns = np.zeros((*torque.shape, len(places)))
    for k, (joint, place) in enumerate(places):
        columns[:, joint, k] = W[:, joint, place] * np.abs(torque[:, joint])
    return columns


def tooth_load(
    robot: Robot, W: Array, rigid: Array, chi: Array, coefficients: Array, side: float
) -> Array:
    """
    Return the torque that presses the teeth: rigid + side * friction, without offsets.

    :param rigid: (M, n) torque of rigid bodies, rotors and load.
    :param chi: (b,) parameters with the friction of this recording.
    :param coefficients: (c,) of `load_friction`; none before they are known.
    :param side: 0 for the torque behind the gear, 1 for that of the motor.
    """
    if not side:
        return rigid
    friction, lost = np.zeros_like(chi), dissipative_parameters(robot)
    friction[lost] = chi[lost]
    torque = W @ friction
    if len(coefficients):
        torque += load_friction(robot, W, rigid) @ coefficients
    return np.asarray(rigid + side * torque)


def drift_notes(robot: Robot, chi: Array, change: Array, deviations: Array) -> list[str]:
    """
    Return one line where friction clearly differs between the recordings.

    :param chi: (b,) with the friction of the unloaded recording.
    :param change: (f,) of the friction parameters; deviations (f,).
    """
    places = friction_parameters(robot)
    clear = [
        f'{robot.base.names[i]} {chi[i]:.3g} -> {chi[i] + d:.3g}'
        for i, d, s in zip(places, change, deviations)
        if abs(d) > SURE * s and abs(d) > LARGE * abs(chi[i])
    ]
    if not clear:
        return []
    more = f' and {len(clear) - 3} more' if len(clear) > 3 else ''
    return [f'friction differs between the recordings: {", ".join(clear[:3])}{more}']


class Design(Protocol):
    """Rows for each run (M, n, p), given the unknowns that friction of the load needs."""

    def __call__(self, x: Array | None, side: float) -> list[Array]:
        """Return the rows; without columns for this friction where x is None."""
        ...


def with_load_friction(
    design: Design, y: Sequence[Array], last: int, doubt: bool = True
) -> tuple[Solution, list[Array]]:
    """
    Solve without the friction of the load, with it, and with the torque that it adds itself.

    :param last: unknowns at the end that are loads.
    :param doubt: what the friction of the load moved counts as a deviation; if the arm is not
        fitted too, little else shows that this friction is uncertain.
    :return: the solution and the rows behind it.
    """
    without = solve(design(None, BEHIND), y, deviations=False).x
    x = solve(design(without, BEHIND), y, deviations=False).x
    A = design(x, MIDDLE)
    found = solve(A, y, last)
    half = solve(design(x, MOTOR), y, deviations=False).x - found.x
    # Twice this half lies between the sides; the variance of an even spread is a twelfth.
    covariance = found.covariance + np.outer(half, half) / 3.0
    if doubt:
        moved = found.x[-last:] - without[-last:]
        covariance[-last:, -last:] += np.outer(moved, moved)
    return replace(found, covariance=covariance), A


# A change is significant beyond this many deviations and this share of the friction.
SURE, LARGE = 4.0, 0.2
