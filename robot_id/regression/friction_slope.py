"""
How friction turns with the velocity: sign(dq), or 2/pi atan(alpha dq) of the robot file.

A real gear turns within a tenth of a mm/s or mrad/s, a simulated or lubricated one may not: with
the wrong one Coulomb and viscous friction are biased far beyond their scatter. Both explain the
same rows; the one that explains them better is taken.
"""

from __future__ import annotations

from robot_id.data.dataset import Dataset
from robot_id.data.processing import Processing
from robot_id.model import Robot
from robot_id.regression.cutoff import fit_error, pieces
from robot_id.regression.observation import Observation


def derive_slope(
    robot: Robot, dataset: Dataset, processing: Processing
) -> tuple[float | None, str]:
    """
    Return alpha, None for sign(dq), and the reason.

    :param processing: resolved, with the dead band of sign(dq), which all candidates share.
    """
    described = robot.description
    slopes = {described.coulomb_slope, described.identification_slope} - {None}
    candidates: list[float | None] = [None, *sorted(s for s in slopes if s is not None)]
    dataset = pieces(dataset)
    errors = {
        slope: fit_error(Observation(robot, dataset, processing, slope)) for slope in candidates
    }
    best = min(candidates, key=lambda slope: errors[slope])
    shown = ', '.join(f'{_words(slope)}: {100 * e:.4g} %' for slope, e in errors.items())
    return best, f'explains the torques best, {shown}'


def _words(slope: float | None) -> str:
    return 'sign(dq)' if slope is None else f'slope {slope:g}'
