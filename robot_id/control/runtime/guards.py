"""
Why an update of the controller's model is refused.

Base parameters of a physically consistent robot (see `regression.consistency.membership`) have a
positive definite M(q) in every posture. Others are judged where M(q) is weakest: from many
postures within the limits, the worst ones go down the smallest eigenvalue, joint by joint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.control.runtime.model_bounds import WAY_OUT, Other, beyond_torque, far_from
from robot_id.dynamics.positive_inertia import (
    LeastInertia,
    inertia_eigenvalues,
    least_inertia,
    thinned,
)
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.exceptions import ControlError, OptionError, did_you_mean
from robot_id.regression.consistency import Fitter
from robot_id.regression.consistency.membership import consistent_standard
from robot_id.robot import Robot

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Friction, rotor inertia and the mass of a slide are not negative; a regrouped one (R) may be.
_NOT_NEGATIVE = re.compile(r'^(Fv|Fc|Fvm|Fcm|Ia|M)\d+[+-]?$')
INCONSISTENT = (
    'the parameters are not physically consistent, so M_hat may not be positive definite in every '
    'posture'
)
SEARCHED_ONLY = f'{INCONSISTENT}; a search over postures found no counterexample'
_POSTURES, _WORST, _STEPS = 1000, 8, (0.5, 0.2, 0.1, 0.05, 0.02)


def is_consistent(robot: Robot, chi: Array) -> bool:
    """Return whether a physically consistent robot has these (b,) base parameters."""
    return consistent_standard(Fitter(robot), chi) is not None


def weakest_posture(robot: Robot, chi: Array) -> LeastInertia:
    """Return the smallest eigenvalue of M(q) that a search within the limits finds, and where."""
    lower = np.maximum(robot.limits.lower, -np.pi)
    upper = np.minimum(robot.limits.upper, np.pi)
    q = sample_configurations(robot, _POSTURES)
    least = inertia_eigenvalues(robot, chi, q)
    order = np.argsort(least)[:_WORST]
    q, least = q[order], least[order]
    both = np.vstack([np.eye(robot.n), -np.eye(robot.n)])
    for step in _STEPS:
        for _ in range(10):
            trials = np.clip(q[:, None] + step * both, lower, upper)  # (worst, 2 n, n)
            found = inertia_eigenvalues(robot, chi, trials.reshape(-1, robot.n)).reshape(
                len(q), -1
            )
            best = np.argmin(found, axis=1)
            new = found[np.arange(len(q)), best]
            better = new < least - 1e-12 * np.abs(least)
            if not better.any():
                break
            q = np.where(better[:, None], trials[np.arange(len(q)), best], q)
            least = np.where(better, new, least)
    k = int(np.argmin(least))
    return LeastInertia(float(least[k]), q[k])


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
            raise OptionError(f"bounds: {robot.name} has no parameter '{name}', {hint}", key=name)
        if not low < high:
            raise OptionError(
                f'bounds: {name}: lower {low:g} is not below upper {high:g}',
                key=name,
                value=(low, high),
            )
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
    least = least_inertia(robot, chi, thinned(position))
    if least.value > 0.0:
        return ''
    return f'M_hat is not positive definite at q = {_shown(least.position)}'


def weak_inertia(
    robot: Robot, chi: Array, current: Array, position: Array, smallest: float
) -> str:
    """
    Return where M_hat would lose positive definiteness, '' when it does nowhere.

    The eigenvalues of the new M_hat relative to the current one must stay above `smallest`: zero
    is lost definiteness, and far below 1 is a loop that has lost its gain.

    :param position: (N, n) reference positions of the window.
    """
    least = least_inertia(robot, chi, thinned(position), beside=current)
    if least.value > smallest:
        return ''
    what = 'is not positive definite' if least.value <= 0.0 else 'almost vanishes'
    return (
        f'M_hat {what} at q = {_shown(least.position)} (its smallest eigenvalue against the '
        f'current model is {least.value:.3g})'
    )


def _shown(position: Array) -> str:
    return np.array2string(position, precision=3)


def positive_everywhere(robot: Robot, chi: Array, physical: bool = True) -> bool:
    """
    Return whether M_hat is positive definite in every posture by a theorem, not by a search.

    With the parameters of a physically consistent robot it is a theorem: M(q) is that of its
    bodies, and every blend of two such sets is one again.

    :param physical: refuse all other parameters; False searches for their weakest posture.
    :raises ControlError: where nothing proves it, or with the posture where it is not.
    """
    if is_consistent(robot, chi):
        return True
    if physical:
        raise ControlError(
            f'{robot.name}: {INCONSISTENT}: identify with physical=true (or set physical: '
            'false of the controller, which only searches for such a posture)',
            code='not_consistent',
        )
    objection = weak_posture(robot, chi)
    if objection:
        raise ControlError(f'{robot.name}: {objection}', code='not_positive_definite')
    return False


def weak_posture(robot: Robot, chi: Array) -> str:
    """Return where a search within the limits finds M_hat not positive definite, '' nowhere."""
    least = weakest_posture(robot, chi)
    if least.value > 0.0:
        return ''
    return (
        f'M_hat is not positive definite at q = {_shown(least.position)}, and no robot that can '
        'exist has these parameters: identify with physical=true'
    )


def check_model(
    robot: Robot,
    chi: Array,
    current: Array,
    smallest_inertia: float,
    physical: bool = True,
    others: Sequence[Other] = (),
    forced: bool = False,
) -> bool:
    """
    Refuse a model that is not safe to control with; return whether chi is physically consistent.

    What is cheap comes first: a value that is far off is refused before the search for a robot
    that has it.

    :param chi: (b,) new values; current (b,) those in use.
    :param smallest_inertia: least eigenvalue of the new M_hat against the present one.
    :param physical: refuse what no physically consistent robot has.
    :param others: models that the new one must not be far from.
    :param forced: take a model that is far from them, or needs more torque than the robot has.
    :raises ControlError: naming the parameter out of its bounds, or where M_hat is lost.
    """
    lower, upper = parameter_bounds(robot, None)
    objection = out_of_bounds(robot, chi, chi != current, lower, upper)
    if not (objection or forced):
        far = next(filter(None, (far_from(robot, chi, other) for other in others)), '')
        objection = far or beyond_torque(robot, chi)
        objection = f'{objection}: {WAY_OUT}' if objection else ''
    objection = objection or weak_inertia(
        robot, chi, current, sample_configurations(robot), smallest_inertia
    )
    if objection:
        raise ControlError(f'{robot.name}: {objection}')
    return positive_everywhere(robot, chi, physical)
