"""
The prior model: the torques that the inertias of the robot file give, and each joint's friction.

tau_j = s_j tau_rigid_j(q, dq, ddq) + Ia_j ddq_j + Fv_j dq_j + Fc_j sign(dq_j) + Off_j, joint by
joint, with s_j, Ia_j, Fv_j and Fc_j positive: bodies resist acceleration and friction takes power.
The scale s_j is the ratio of the recorded torque to the expected one.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.signals.decimation import decimate
from robot_id.dynamics.kernels.tree import Tree
from robot_id.robot import Robot
from robot_id.tasks.checks.signals import EQUATION_DECIMATION, Signals

Array = NDArray[np.float64]

# The scale is determined if the bodies have this share of the torque; otherwise rotors and
# friction hide it.
SMALLEST = 0.2


class PriorModel:
    """
    The prior model of one robot.

    :param robot: with plain terms.
    :param inertia: (nb, 10) of the robot file.
    """

    def __init__(self, robot: Robot, inertia: Array) -> None:
        self.robot, self.inertia = robot, inertia
        terms = robot.terms
        # For each joint (stem, direction, must be positive) of the columns beside the bodies'.
        self.columns: list[list[tuple[str, Array, bool]]] = [[] for _ in range(robot.n)]
        for k in range(len(terms.parameter)):
            name = terms.names[terms.parameter[k]]
            own = name[2:3].isdigit() and int(name[2:]) == terms.row[k] + 1
            positive = own and name[:2] in ('Ia', 'Fv', 'Fc')
            self.columns[terms.row[k]].append((name[:2], terms.direction[k], bool(positive)))

    def residuals(self, s: Signals, tree: Tree | None = None) -> Array:
        """(n,) rms of what is left of the torques, relative to their size."""
        A, Y, weights = self._equations(s, tree)
        return np.array([_consistent(a, y, w) for (a, w), y in zip(zip(A, weights), Y)])

    def scales(self, s: Signals, tree: Tree | None = None) -> tuple[Array, Array]:
        """(n,) s_j without any sign imposed, and its deviation."""
        A, Y, _ = self._equations(s, tree)
        pairs = [_first(a, y) for a, y in zip(A, Y)]
        return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])

    def _equations(
        self, s: Signals, tree: Tree | None
    ) -> tuple[list[Array], list[Array], list[NDArray[np.bool_]]]:
        """Return for each joint A (m, c), Y (m,) of unit size, and which columns are positive."""
        rigid = dynamics.body_torques(self.robot, self.inertia, s.q, s.dq, s.ddq, tree)
        parts, widths, signs = [], [], []
        for j, columns in enumerate(self.columns):
            values = [_term(stem, direction, s.dq, s.ddq) for stem, direction, _ in columns]
            parts.append(np.column_stack([rigid[:, j], *values, s.tau[:, j]]))
            widths.append(parts[-1].shape[1])
            signs.append(np.array([True, *(positive for _, _, positive in columns)]))
        whole = np.concatenate(parts, axis=1)
        kept = np.concatenate(
            [decimate(whole[a:b], EQUATION_DECIMATION)[2:-2] for a, b in s.pieces]
        )
        valid = s.valid_equations
        A, Y, at = [], [], 0
        for j, width in enumerate(widths):
            rows = kept[valid[:, j], at : at + width]
            size = max(float(np.std(rows[:, -1])), 1e-12)
            A.append(rows[:, :-1] / size)
            Y.append(rows[:, -1] / size)
            at += width
        return A, Y, signs


def _term(stem: str, direction: Array, dq: Array, ddq: Array) -> Array:
    """Return the column of Ia, Fv, Fc or Of(fset)."""
    if stem == 'Of':
        return np.ones(len(dq))
    x = (ddq if stem == 'Ia' else dq) @ direction
    return np.sign(x) if stem == 'Fc' else x


def _consistent(A: Array, y: Array, positive: NDArray[np.bool_]) -> float:
    """Return the rms of the residual with the parameters that must be positive kept so."""
    A = np.column_stack([A, -A[:, ~positive]])
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    R = np.asarray(np.linalg.qr(np.column_stack([A / norms, y]), mode='r'))
    return float(scipy.optimize.nnls(R[:, :-1], R[:, -1])[1] / np.sqrt(max(len(y), 1)))


def _first(A: Array, y: Array) -> tuple[float, float]:
    """
    Return the first parameter and its deviation, doubled for correlated residuals.

    The deviation is infinite where that parameter explains next to nothing of the torque.

    :param A: (m, c) columns.
    :param y: (m,) torques of unit size.
    """
    norms = np.linalg.norm(A, axis=0)
    norms[norms == 0] = 1.0
    U, sv, Vt = np.linalg.svd(A / norms, full_matrices=False)
    keep = sv > 1e-6 * sv[0]
    solution = Vt[keep].T @ ((U[:, keep].T @ y) / sv[keep]) / norms
    rms = float(np.sqrt(((y - A @ solution) ** 2).mean()))
    spread = np.sqrt(((Vt[keep].T / sv[keep]) ** 2).sum(axis=1)) / norms
    if abs(solution[0]) * float(np.std(A[:, 0])) < SMALLEST:
        return float(solution[0]), float('inf')
    return float(solution[0]), 2.0 * rms * float(spread[0])
