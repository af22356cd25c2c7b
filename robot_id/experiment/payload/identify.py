"""The load of a robot from recordings, by the way that the data allow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.estimation.parameters import parameters_for, robot_for
from robot_id.estimation.result import Result
from robot_id.exceptions import DataError, OptionError
from robot_id.experiment.payload.attachment import Attachment, last_link
from robot_id.experiment.payload.possible import nearest_possible
from robot_id.experiment.payload.result import PayloadResult, of_standard
from robot_id.experiment.payload.rows import common_processing, joint_weights, rows_of
from robot_id.experiment.payload.same_motion import same_motion
from robot_id.experiment.payload.solution import Solution, solve
from robot_id.experiment.validation import Conditions
from robot_id.model import Robot
from robot_id.progress import Progress, silent
from robot_id.regression.derivation import derive

Array = NDArray[np.float64]
# A value this many deviations below zero is no noise.
SURE = 3.0
# A possible body this many deviations from the fit is said to be another.
MOVED = 0.1
# Diagonal of the inertia and mass: what no body has negative.
_POSITIVE = np.array([0, 3, 5, 9])


def identify_payload(
    robot: Robot,
    loaded: Dataset,
    unloaded: Dataset | None = None,
    arm: Result | None = None,
    attachment: Attachment | None = None,
    way: str | None = None,
    progress: Progress = silent,
) -> PayloadResult:
    """
    Return mass, centre and inertia of the load that hangs on a robot.

    :param loaded: recording with the load.
    :param unloaded: recording without it; not needed with `arm`.
    :param arm: identified parameters of the robot without load.
    :param attachment: frame of the load; None for that of the last link.
    :param way: a (same motion twice), b (arm model), c (both together); None takes c where there
        is an unloaded recording, else b.
    """
    way = way or ('b' if unloaded is None else 'c')
    if (arm is None) if way == 'b' else (unloaded is None):
        needed = '--params, an arm model' if way == 'b' else '--unloaded, a recording without load'
        raise OptionError(f'way {way} needs {needed}', key='way', value=way)
    attachment = attachment or last_link(robot)
    loaded = loaded.select(robot.joint_names)
    progress(0.1, 'processing the recordings')
    if way == 'b':
        assert arm is not None
        robot = robot_for(robot, arm)
        found = _with_model(robot, loaded, arm, attachment)
    else:
        assert unloaded is not None
        both = unloaded.select(robot.joint_names), loaded
        found = (_together if way == 'c' else _subtracted)(robot, *both, attachment)
    progress(0.9, 'finding the nearest body')
    p, covariance, determined = found.x[-10:], found.covariance[-10:, -10:], found.determined[-10:]
    _refuse_swapped(p, covariance, determined, way)
    possible = nearest_possible(p, covariance, determined)
    notes: tuple[str, ...] = ()
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if np.any((np.abs(possible - p) > MOVED * deviations)[determined]):
        notes = ('the fit alone gives no possible body: the nearest one that exists is told',)
    progress(1.0, 'done')
    return of_standard(possible, covariance, determined, way, attachment.name, notes)


def _together(
    robot: Robot, unloaded: Dataset, loaded: Dataset, attachment: Attachment
) -> Solution:
    """Way c: [Y_u; Y_l] = [W_u 0; W_l W_l G] [chi; p]."""
    processing, slope = common_processing(robot, [loaded, unloaded])
    G = attachment.columns(robot)
    unknowns = len(robot.base) + 10
    recordings = [rows_of(robot, d, processing, slope, unknowns) for d in (unloaded, loaded)]
    weights = joint_weights(recordings)
    A, y = [], []
    for rows, columns in zip(recordings, (np.zeros_like(G), G)):
        for W, Y in zip(rows.W, rows.Y):
            A.append(np.concatenate([W, W @ columns], axis=2) * weights[:, None])
            y.append(Y * weights)
    return solve(A, y)


def _with_model(robot: Robot, loaded: Dataset, arm: Result, attachment: Attachment) -> Solution:
    """Way b: Y_l - W_l chi = W_l G p; the uncertainty of chi is passed on."""
    chi = parameters_for(robot, arm)
    conditions = Conditions.of(arm, loaded.rate)
    slope = conditions.coulomb_slope
    processing = derive(conditions.processing, loaded, robot, slope).processing
    G = attachment.columns(robot)
    rows = rows_of(robot, loaded, processing, slope, 10)
    weights = joint_weights([rows])
    A = [W @ G * weights[:, None] for W in rows.W]
    found = solve(A, [(Y - W @ chi) * weights for W, Y in zip(rows.W, rows.Y)])
    Q, R = np.linalg.qr(np.concatenate([a.reshape(-1, 10) for a in A]) @ found.basis)
    W_arm = np.concatenate([(W * weights[:, None]).reshape(-1, len(chi)) for W in rows.W])
    J = found.basis @ np.linalg.solve(R, Q.T @ W_arm)
    known = np.isfinite(np.diag(arm.covariance))
    of_arm = np.where(np.outer(known, known), np.nan_to_num(arm.covariance), 0.0)
    return Solution(found.x, found.basis, found.covariance + J @ of_arm @ J.T, found.determined)


def _subtracted(
    robot: Robot, unloaded: Dataset, loaded: Dataset, attachment: Attachment
) -> Solution:
    """
    Way a: Y_l - Y_u = W_l G p + (W_l - W_u) chi at the same instants of the same motion.

    A load changes how the loop follows: what that small difference of the motions moves of the arm
    is taken out with a fit of the unloaded recording.
    """
    unloaded, loaded = same_motion(unloaded, loaded)
    processing, slope = common_processing(robot, [loaded, unloaded])
    G = attachment.columns(robot)
    without, rows = (rows_of(robot, d, processing, slope, 10) for d in (unloaded, loaded))
    weights = joint_weights([without, rows])
    used = [np.any(W != 0.0, axis=2) & np.any(V != 0.0, axis=2) for V, W in zip(without.W, rows.W)]
    A = [W @ G * (weights * u)[:, :, None] for W, u in zip(rows.W, used)]
    chi = solve([V * weights[:, None] for V in without.W], [Z * weights for Z in without.Y]).x
    pairs = zip(without.W, without.Y, rows.W, rows.Y, used)
    y = [(Y - Z - (W - V) @ chi) * weights * u for V, Z, W, Y, u in pairs]
    return solve(A, y)


def _refuse_swapped(p: Array, covariance: Array, determined: NDArray[np.bool_], way: str) -> None:
    """Refuse what no load can be: a mass, or an inertia about an axis, clearly below zero."""
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    if determined[9]:
        negative = p[9] < -SURE * deviations[9]
    else:
        negative = bool(np.any((p < -SURE * deviations)[_POSITIVE] & determined[_POSITIVE]))
    if not negative:
        return
    what = f'{p[9]:.3g} kg' if determined[9] else 'a negative inertia'
    fix = (
        'was --params identified with the load on?'
        if way == 'b'
        else 'are --unloaded and --loaded swapped?'
    )
    raise DataError(f'the load would be {what} (deviation {deviations[9]:.2g}): {fix}')
