"""The trial of a change: what it leaves of torques that it was not fitted to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from robot_id.experiment.check.models import Explanation

Array = NDArray[np.float64]

# Factor by which a change must lower the error, and by which chance may raise it.
CLEAR, CHANCE = 1.25, 1.03
# Inertias of the robot file that leave less than this of the torques do not speak against them.
EXPLAINED = 0.1


def helps(before: Explanation, after: Explanation, joints: tuple[int, ...]) -> bool:
    """
    Return whether who obeys a change gets a better model.

    The hold-out error of the free model, which is what a fit of the changed data would have, must
    not rise, neither that of the joints that the change names nor that of all. One of the two
    models must get clearly better in both: the zero of a last link, for example, shows only
    against the inertias of the robot file.

    :param joints: that the change is about, none for all of them.
    """
    ratios = list(_ratios(before, after, joints))
    if min(ratios[0]) * CHANCE < 1.0:
        return False
    return any(named > CLEAR and of_all > 1.0 for named, of_all in ratios)


def _ratios(
    before: Explanation, after: Explanation, joints: tuple[int, ...]
) -> Iterator[tuple[float, float]]:
    """Yield error before / after of the named joints and of all: hold-out, then prior model."""
    named = np.zeros(before.moving.size, bool)
    named[list(joints)] = True
    named &= before.moving
    if not named.any():
        named = before.moving
    pairs = [(before.held_out, after.held_out)]
    prior = before.prior
    if prior is not None and after.prior is not None and rms(prior[before.moving]) > EXPLAINED:
        pairs.append((prior, after.prior))
    for old, new in pairs:
        yield rms(old[named]) / rms(new[named]), rms(old[before.moving]) / rms(new[before.moving])


def rms(values: Array) -> float:
    """Return the root of the mean of the squares."""
    return float(np.sqrt((values**2).mean()))
