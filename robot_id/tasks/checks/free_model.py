"""
The free model: tau = W chi with all base parameters unknown, only friction kept positive.

Its parameters absorb much of what is wrong, so a change that helps it is certain to be right, and
it needs no inertias of the robot file.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.signals.decimation import decimate
from robot_id.dynamics.kernels.tree import Tree
from robot_id.robot import Robot
from robot_id.tasks.checks.plain_robot import TILTED, with_plain_terms
from robot_id.tasks.checks.signals import EQUATION_DECIMATION, Signals

Array = NDArray[np.float64]
Index = NDArray[np.int64]

# Weight of the unknown parameters towards zero, relative to the size of their columns.
RIDGE = 1e-3


class FreeModel:
    """
    The free model of one robot.

    :param robot: with plain terms.
    :param signals: the recording as it is.
    """

    def __init__(self, robot: Robot, signals: Signals) -> None:
        self.robot, self._signals = robot, signals

    @cached_property
    def columns(self) -> Index:
        """Standard parameters that are independent in a general direction of gravity."""
        return self.tilted.base.columns

    @cached_property
    def tilted(self) -> Robot:
        """The robot with gravity in no special direction."""
        return with_plain_terms(self.robot, np.array(TILTED))

    @cached_property
    def friction(self) -> Index:
        """Places of Fv and Fc among the columns."""
        names = [self.robot.standard_names[k] for k in self.columns]
        return np.flatnonzero([n[:2] in ('Fv', 'Fc') and n[2:].isdigit() for n in names])

    def residuals(self, s: Signals, tree: Tree | None = None) -> tuple[Array, Array]:
        """(n,) rms of what is left of the torques, relative to their size, and chi."""
        equations = self.equations(s, tree)
        _, left, chi = self._fitted(equations, s.valid_equations)
        return left, chi

    def tried(self, s: Signals, tree: Tree | None = None) -> tuple[Array, Array, Array]:
        """(n,) residuals as above, (n,) those of the half that was not fitted, and chi."""
        equations = self.equations(s, tree)
        weights, left, chi = self._fitted(equations, s.valid_equations)
        return left, self._held_out(equations, s, weights), chi

    def _fitted(
        self, equations: tuple[Array, Array, Array], valid: NDArray[np.bool_]
    ) -> tuple[Array, Array, Array]:
        """Return the weights of the joints, the relative residuals and chi, fitted twice."""
        W, Y, size = equations
        weights = 1.0 / size
        for _ in range(2):
            used = weights
            A, y = (W * used[:, None]).reshape(-1, W.shape[2]), (Y * used).ravel()
            chi = ridge_solve(A, y, self.friction)
            rms = np.sqrt(((Y - W @ chi) ** 2).sum(axis=0) / valid.sum(axis=0)) / size
            weights = 1.0 / (size * np.clip(rms, 0.02, 1.0))
        return used, rms, chi

    def _held_out(
        self, equations: tuple[Array, Array, Array], s: Signals, weights: Array
    ) -> Array:
        """(n,) relative residuals of either half by the parameters of the other one."""
        W, Y, size = equations
        left = np.empty_like(Y)
        for half in (s.second_half, ~s.second_half):
            A = (W[~half] * weights[:, None]).reshape(-1, W.shape[2])
            chi = ridge_solve(A, (Y[~half] * weights).ravel(), self.friction)
            left[half] = Y[half] - W[half] @ chi
        return np.asarray(np.sqrt((left**2).sum(axis=0) / s.valid_equations.sum(axis=0)) / size)

    def equations(self, s: Signals, tree: Tree | None = None) -> tuple[Array, Array, Array]:
        """
        Return W (m, n, b), Y (m, n) and the sizes of the torques (n,), filtered and decimated.

        Rows of clipped torques and of joints at rest are zero.

        :param s: the recording under a hypothesis; where that leaves the motion as it is, W is
            the one of the recording.
        :param tree: the robot under a hypothesis, None for the robot itself.
        """
        own = self._signals
        as_it_is = tree is None and s.q is own.q and s.dq is own.dq and s.ddq is own.ddq
        W = self._recorded if as_it_is else self._rows(s, tree)
        valid = s.valid_equations
        Y = _thinned(s.tau, s)
        mean = (Y * valid).sum(axis=0) / valid.sum(axis=0)
        size = np.sqrt((((Y - mean) * valid) ** 2).sum(axis=0) / valid.sum(axis=0))
        return W * valid[:, :, None], Y * valid, np.maximum(size, 1e-12)

    @cached_property
    def _recorded(self) -> Array:
        """(m, n, b) rows of the recording as it is."""
        return self._rows(self._signals, None)

    def _rows(self, s: Signals, tree: Tree | None) -> Array:
        """(m, n, b) rows of W, filtered and decimated."""
        W = dynamics.regressor(self.robot, s.q, s.dq, s.ddq, standard=True, tree=tree)
        flat = W[:, :, self.columns].reshape(len(W), -1)
        acting = np.flatnonzero(np.abs(flat[::7]).max(axis=0))
        kept = _thinned(flat[:, acting], s)
        out = np.zeros((len(kept), flat.shape[1]))
        out[:, acting] = kept
        return out.reshape(-1, s.n, len(self.columns))


def _thinned(x: Array, s: Signals) -> Array:
    """Return the rows (m, c) of samples (M, c), filtered and decimated piece by piece."""
    return np.concatenate([decimate(x[a:b], EQUATION_DECIMATION)[2:-2] for a, b in s.pieces])


def ridge_solve(A: Array, y: Array, positive: Index) -> Array:
    """
    Solve A chi = y by QR, each parameter drawn to zero by RIDGE times its column.

    :param positive: parameters that are zero where they would come out negative.
    """
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    b = A.shape[1]
    R = scipy.linalg.qr(
        np.column_stack([A / norms, y]), mode='r', check_finite=False, overwrite_a=True
    )[0][: b + 1]
    keep = np.ones(b, bool)
    for _ in range(4):
        count = int(keep.sum())
        small = np.concatenate([R[:, :b][:, keep], RIDGE * np.eye(count)])
        target = np.concatenate([R[:, b], np.zeros(count)])
        r = np.asarray(np.linalg.qr(np.column_stack([small, target]), mode='r'))
        chi = np.zeros(b)
        chi[keep] = scipy.linalg.solve_triangular(r[:count, :count], r[:count, count])
        wrong = positive[chi[positive] < 0]
        if not wrong.size:
            break
        keep[wrong] = False
    return chi / norms
