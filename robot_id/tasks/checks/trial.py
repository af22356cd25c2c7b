"""The trial of a change: what it leaves of torques that it was not fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.tasks.checks.models import Explanation

Array = NDArray[np.float64]

# Factor by which a change must lower the error, and by which chance may raise it.
CLEAR, CHANCE = 1.25, 1.03
# Inertias of the robot file that leave less than this of the torques do not speak against them.
EXPLAINED = 0.1


def helps(before: Explanation, after: Explanation, joints: tuple[int, ...]) -> bool:
    """
    Return whether who obeys a change gets a better model.

    The errors of the free model, of the fit and of the half that it has not seen, are what a fit
    of the changed data would have: they must not rise, neither those of the joints that the
    change names nor those of all. One of the two models must get clearly better: the zero of a
    last link, for example, shows only against the inertias of the robot file.

    :param joints: that the change is about, none for all of them.
    """
    named = np.zeros(before.moving.size, bool)
    named[list(joints)] = True
    named &= before.moving
    if not named.any():
        named = before.moving
    fit = _ratios(before.free, after.free, named, before.moving)
    held_out = _ratios(before.held_out, after.held_out, named, before.moving)
    if min(*fit, *held_out) * CHANCE < 1.0:
        return False
    if held_out[0] > CLEAR and min(*fit, *held_out) > 1.0:
        return True
    if before.prior is None or after.prior is None:
        return False
    prior = _ratios(before.prior, after.prior, named, before.moving)
    return rms(before.prior[before.moving]) > EXPLAINED and prior[0] > CLEAR and prior[1] > 1.0


def _ratios(
    before: Array, after: Array, named: NDArray[np.bool_], every: NDArray[np.bool_]
) -> tuple[float, float]:
    """Return error before / after of the named joints, and of all."""
    of_named, of_all = (rms(before[which]) / rms(after[which]) for which in (named, every))
    return of_named, of_all


def rms(values: Array) -> float:
    """Return the root of the mean of the squares."""
    return float(np.sqrt((values**2).mean()))
