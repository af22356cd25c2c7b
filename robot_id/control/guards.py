"""Why an update of the controller's model is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.dynamics.inverse import inertia_matrix
from robot_id.exceptions import OptionError, did_you_mean
from robot_id.model import Robot

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Friction, rotor inertia and the mass of a slide are not negative; a regrouped one (R) may be.
_NOT_NEGATIVE = re.compile(r'^(Fv|Fc|Fvm|Fcm|Ia|M)\d+[+-]?$')
# Configurations of a window at which M_hat is looked at.
MOST_CONFIGURATIONS = 400


def parameter_bounds(
    robot: Robot, bounds: Mapping[str, tuple[float, float]] | None
) -> tuple[Array, Array]:
    """
    Return (b,) lower and upper bounds: zero for friction and inertias, what the user gave.

    :param bounds: name of a base parameter -> (lower, upper).
    """
    names = robot.base.names
    lower = np.array([0.0 if _NOT_NEGATIVE.match(name) else -np.inf for name in names])
    upper = np.full(len(names), np.inf)
    for name, (low, high) in (bounds or {}).items():
        if name not in names:
            hint = did_you_mean(name, names)
            raise OptionError(f"bounds: {robot.name} has no parameter '{name}', {hint}")
        if not low < high:
            raise OptionError(f'bounds: {name}: lower {low:g} is not below upper {high:g}')
        lower[names.index(name)], upper[names.index(name)] = low, high
    return lower, upper


def out_of_bounds(robot: Robot, chi: Array, passed: Flags, lower: Array, upper: Array) -> str:
    """Return which passed parameter leaves its bounds, '' when none does."""
    for i in np.flatnonzero(passed):
        if not lower[i] <= chi[i] <= upper[i]:
            return (
                f'{robot.base.names[i]} = {chi[i]:.5g} leaves its bounds '
                f'[{lower[i]:g}, {upper[i]:g}]'
            )
    return ''


def not_positive(robot: Robot, chi: Array, position: Array) -> str:
    """Return where M_hat is not positive definite among (N, n) positions, '' when nowhere."""
    every = max(len(position) // MOST_CONFIGURATIONS, 1)
    q = np.ascontiguousarray(position[::every])
    least = np.linalg.eigvalsh(inertia_matrix(robot, chi, q))[:, 0]
    k = int(np.argmin(least))
    if least[k] > 0.0:
        return ''
    return f'M_hat is not positive definite at q = {np.array2string(q[k], precision=3)}'


def weak_inertia(
    robot: Robot, chi: Array, current: Array, position: Array, smallest: float
) -> str:
    """
    Return where M_hat would lose positive definiteness, '' when it does nowhere.

    The eigenvalues of the new M_hat relative to the current one must stay above `smallest`: zero
    is lost definiteness, and far below 1 is a loop that has lost its gain.

    :param position: (N, n) reference positions of the window.
    """
    every = max(len(position) // MOST_CONFIGURATIONS, 1)
    q = np.ascontiguousarray(position[::every])
    M, before = inertia_matrix(robot, chi, q), inertia_matrix(robot, current, q)
    for k in range(len(q)):
        try:
            least = float(sl.eigh(M[k], before[k], eigvals_only=True)[0])
        except np.linalg.LinAlgError:
            # The start itself is not positive definite there: judge the new one alone.
            least = float(np.linalg.eigvalsh(M[k])[0])
        if not least > smallest:
            what = 'is not positive definite' if least <= 0.0 else 'almost vanishes'
            return (
                f'M_hat {what} at q = {np.array2string(q[k], precision=3)} (its smallest '
                f'eigenvalue against the current model is {least:.3g})'
            )
    return ''
