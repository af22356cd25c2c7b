"""
Rows of a recording on which columns beside the model are tried, each on blocks left out.

One walk through the data gives W, Y and the columns of effects that are not in the model; all that
follows is linear algebra on these rows. A column is worth what it takes from the error of blocks
that were not fitted (`motion_parts`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.dynamics.load import rigid_parameters
from robot_id.exceptions import RobotIdError
from robot_id.methods.result import Result
from robot_id.options import options_of
from robot_id.regression.preprocessing.rest_band import top_speeds
from robot_id.regression.rows.sampling import States, walk
from robot_id.regression.rows.wide_regressor import WideRegressor
from robot_id.robot import Robot
from robot_id.robot.friction.functions import smooth_sign
from robot_id.tasks.verdict.motion_parts import split_motion

Array = NDArray[np.float64]
FOLDS = 8
# Equations times parameters that are tried; of longer recordings every k-th row is taken.
LARGEST = 300_000
# Stribeck velocity that is tried, of the top speed.
STRIBECK = 0.06
# Of the column norms: keeps columns that are nearly dependent from growing.
RIDGE = 1e-8
# Rows on either side of a reversal in which friction is not known (regression.rows.reversals);
# they stay where more than half of all rows are such.
REACH = 2
EFFECTS = ('load', 'stribeck', 'quadratic', 'spring')


@dataclass(frozen=True)
class Gain:
    """
    What columns take from the error of blocks that were not fitted.

    :param percent: of the weighted squared error.
    :param agree: share of the blocks whose error falls.
    :param before: relative torque error on these blocks without them, percent, after with them.
    :param share: (n,) torque that they explain, of the torque of each joint.
    :param of_joint: (n,) percent of the squared error of each joint.
    :param values: (c,) their parameters, from all blocks.
    """

    percent: float
    agree: float
    before: float
    after: float
    share: Array
    of_joint: Array
    values: Array


def _near_reversal(speed: Array) -> NDArray[np.bool_]:
    """Return which of (r,) rows of a joint stand next to a reversal."""
    turned = np.flatnonzero(np.diff(np.sign(speed)))
    near = np.zeros(len(speed), bool)
    for shift in range(1 - REACH, REACH + 1):
        near[np.clip(turned + shift, 0, len(speed) - 1)] = True
    return near if near.mean() <= 0.5 else np.zeros_like(near)


class TrialRows:
    """
    The R equations of all joints, one after another, with what a fit leaves of them.

    :ivar A: (R, b) weighted rows of W, y (R,) torques, weight (R,).
    :ivar joint: (R,) which joint, run (R,) which run, fold (R,) which block.
    :ivar time: (R,) s since the start of the first run, without what lies between the runs.
    :ivar effects: by name (R,) unweighted columns.
    :ivar q: (R,) position of the joint, dq (R,) velocity.
    """

    def __init__(self, robot: Robot, dataset: Dataset, result: Result) -> None:
        known = {
            key: result.options[key] for key in options_of(Processing) if key in result.options
        }
        known = {k: tuple(v) if isinstance(v, list) else v for k, v in known.items()}
        processing, slope = Processing(**known), result.options.get('coulomb_slope')
        wide, n, b = WideRegressor(robot, slope), robot.n, len(robot.base)
        rigid = np.zeros(b)
        rigid[:] = rigid_parameters(robot, result.values) * robot.base.factor
        middle = np.mean([run.position.mean(axis=0) for run in dataset.runs], axis=0)
        slow = STRIBECK * np.maximum(top_speeds(dataset), 1e-9)

        def columns(s: States) -> Array:
            W = wide(s.q, s.dq, s.ddq, s.torque, s.temperature)
            tau = wide.predicted(W, rigid)
            sign = smooth_sign(s.dq, slope or 0.0)
            more = (sign * np.abs(tau), sign * np.exp(-((s.dq / slow) ** 2)), s.dq * np.abs(s.dq),
                    s.q - middle, s.dq)  # fmt: skip
            return np.concatenate([W, *more], axis=1)

        starts = np.cumsum([0.0, *(run.duration for run in dataset.runs)])
        parts = split_motion(dataset, FOLDS)
        rows = list(walk(dataset, processing, columns))
        total = n * sum(len(piece.time) for piece in rows)
        every = max(1, -(-total * b // LARGEST))
        A, y, place, effects, motion = [], [], [], [], []
        for piece in rows:
            run = dataset.runs[piece.run]
            at = np.searchsorted(run.time, piece.time - 0.5 * run.step)
            fold, first = parts.labels[piece.run][at], wide.width
            for j in range(n):
                speed = piece.values[:, wide.width + len(EFFECTS) * n + j]
                used = np.flatnonzero(piece.used[:, j] & ~_near_reversal(speed))[::every]
                W, Y = wide.of_joint(piece.values[used], j)
                whole = np.zeros((len(used), b))
                whole[:, wide.columns[j]] = W
                A.append(whole)
                y.append(Y)
                own = piece.values[used][:, first + j :: n]
                effects.append(own[:, : len(EFFECTS)])
                motion.append(np.column_stack([own[:, 3] + middle[j], own[:, 4]]))
                since = starts[piece.run] + piece.time[used] - run.time[0]
                place.append(np.column_stack([np.full(len(used), j), np.full(len(used), piece.run),
                                              fold[used], since]))  # fmt: skip
        W, self.y = np.concatenate(A), np.concatenate(y)
        where = np.concatenate(place)
        self.joint, self.run, self.fold = where[:, :3].astype(int).T
        self.time, self.duration, self.n = where[:, 3], float(starts[-1]), n
        self.starts, self.repeated = starts, parts.repeated
        self.q, self.dq = np.concatenate(motion).T
        self.effects = dict(zip(EFFECTS, np.concatenate(effects).T))
        left = self.y - W @ result.values
        of_joint = [left[self.joint == j] for j in range(n)]
        rms = np.array([np.linalg.norm(rho) / np.sqrt(max(len(rho), 1)) for rho in of_joint])
        self.weight = 1.0 / np.maximum(rms, 1e-6 * max(rms.max(), 1e-300))[self.joint]
        self.A = W * self.weight[:, None]
        self.predicted = W @ result.values
        if len(self.y) <= 2 * b or len(np.unique(self.fold)) < 2:
            raise RobotIdError('too few rows to try what is not in the model')
        self.left = self.held_out()[0]

    def by_joint(self, column: Array) -> Array:
        """(R, n) a column of each joint of its own."""
        return np.where(self.joint[:, None] == np.arange(self.n), column[:, None], 0.0)

    def held_out(self, columns: Array | None = None) -> tuple[Array, Array]:
        """
        Return (R,) the weighted residual of each block, fitted without it, and (c,) values.

        :param columns: (R, c) further ones beside the model; the values are those of all blocks.
        """
        Z, y = self.A, self.weight * self.y
        if columns is not None:
            Z = np.column_stack([Z, columns * self.weight[:, None]])
        norms = np.linalg.norm(Z, axis=0)
        norms = np.where(norms > 0.0, norms, 1.0)
        Z = Z / norms
        G, g = Z.T @ Z, Z.T @ y
        left = np.empty_like(y)
        for fold in np.unique(self.fold):
            own = self.fold == fold
            part = Z[own]
            H = G - part.T @ part + RIDGE * np.eye(len(G))
            left[own] = y[own] - part @ np.linalg.solve(H, g - part.T @ y[own])
        values = np.linalg.solve(G + RIDGE * np.eye(len(G)), g) / norms
        return left, values[self.A.shape[1] :]

    def error_percent(self, left: Array) -> float:
        """Return the relative torque error of a weighted residual, percent."""
        return 100.0 * float(np.linalg.norm(left / self.weight) / np.linalg.norm(self.y))

    def gain(self, columns: Array) -> Gain:
        """Return what (R, c) columns take from the error of blocks that were not fitted."""
        left, values = self.held_out(columns)
        folds = np.unique(self.fold)
        before, after = (
            np.array([np.sum(rho[self.fold == k] ** 2) for k in folds])
            for rho in (self.left, left)
        )
        scale = 100.0 / float(before.mean())
        agree = float(np.mean(after < before))
        had, rest, torque = (
            np.bincount(self.joint, x**2, self.n)
            for x in (self.left / self.weight, left / self.weight, self.y)
        )
        taken = had - rest
        share = np.sqrt(np.maximum(taken, 0.0) / np.maximum(torque, 1e-300))
        of_joint = 100.0 * taken / np.maximum(had, 1e-300)
        errors = self.error_percent(self.left), self.error_percent(left)
        percent = scale * float((before - after).mean())
        return Gain(percent, agree, *errors, share, of_joint, values)
