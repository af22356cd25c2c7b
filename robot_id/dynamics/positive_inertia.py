"""Whether M(q) is positive definite along a motion, and by what margin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from robot_id.dynamics.inverse import inertia_matrix
from robot_id.dynamics.states import Array
from robot_id.robot import Robot

# Number of positions of a motion at which M(q) is checked.
MOST_POSITIONS = 400


class LeastInertia(NamedTuple):
    """The smallest eigenvalue of M(q), and the position (n,) where it was found."""

    value: float
    position: Array


def least_inertia(robot: Robot, chi: Array, q: Array, beside: Array | None = None) -> LeastInertia:
    """
    Return the smallest eigenvalue of M(q) over positions q (N, n), all of them.

    :param chi: (b,) base parameters.
    :param beside: (b,) other parameters: the eigenvalues are then those of M relative to theirs,
        1 where both are equal. Where theirs is not positive definite itself, M is judged alone.
    """
    q = np.atleast_2d(np.asarray(q, float))
    M = inertia_matrix(robot, chi, q)
    if beside is not None:
        try:
            # M against L L^T = M of the others: the eigenvalues of L^-1 M L^-T.
            L = np.linalg.cholesky(inertia_matrix(robot, beside, q))
            half = np.linalg.solve(L, M)
            M = np.linalg.solve(L, np.swapaxes(half, 1, 2))
            M = 0.5 * (M + np.swapaxes(M, 1, 2))
        except np.linalg.LinAlgError:
            pass
    least = _smallest(M)
    k = int(np.argmin(least))
    return LeastInertia(float(least[k]), q[k])


def inertia_eigenvalues(robot: Robot, chi: Array, q: Array) -> Array:
    """(N,) the smallest eigenvalue of M(q) at each of the (N, n) positions q."""
    return _smallest(inertia_matrix(robot, chi, np.ascontiguousarray(q)))


def _smallest(M: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh(M)[:, 0], float)


def smallest_inertia_eigenvalue(robot: Robot, chi: Array, q: Array) -> float:
    """Return the smallest eigenvalue of M(q) over the (N, n) positions q."""
    return least_inertia(robot, chi, q).value


def positive_on_motion(
    robot: Robot, chi: Array, motions: Iterable[Array], most: int = MOST_POSITIONS // 2
) -> bool:
    """Return whether M(q) is positive definite at some `most` positions of every motion (N, n)."""
    return all(least_inertia(robot, chi, thinned(q, most)).value > 0.0 for q in motions)


def thinned(position: Array, most: int = MOST_POSITIONS) -> Array:
    """Return about `most` of (N, n) positions, evenly spread."""
    return np.ascontiguousarray(position[:: max(len(position) // most, 1)])
