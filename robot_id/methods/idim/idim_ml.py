"""
IDIM with maximum likelihood: the noise of the positions in W is taken into account.

Errors in variables: the noise of the positions moves the rows of W as well as the residual.

The measured state x = [q dq ddq] of a row is off by u, cov(u) = sigma_q^2 G: G is what filter,
differences and decimation make of white noise. To first order Y - W(x) chi = e - A u with
A = d tau/d x, so Sigma = diag(sigma_tau^2) + A C A'. The likelihood over the parameters and all
true states is least where sum rho' Sigma(chi)^-1 rho is; its Gauss-Newton step (Gauss-Helmert)
solves the rows of the estimated states x - u, u = -C A' Sigma^-1 rho.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, ClassVar

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.data.signals.decimation import decimate
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing, end_rows
from robot_id.dynamics import derivatives, regressor
from robot_id.exceptions import IdentificationError
from robot_id.methods.idim.common import Fit, Idim
from robot_id.methods.recursive.settings import per_item
from robot_id.methods.result import Iteration, history_text
from robot_id.progress import Progress
from robot_id.ranges import NotNegative, Range
from robot_id.regression.rows.observation import Observation
from robot_id.regression.rows.sampling import States, walk, whole_motion
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import triangle
from robot_id.regression.uncertainty.standard_errors import back, least_squares_covariance
from robot_id.robot import Robot

# Settled: no parameter moves by more than this many of its deviations.
SETTLED = 0.01
Array = NDArray[np.float64]
# The noise of the torque is at least this share of the residual's variance.
LEAST_TORQUE_SHARE = 0.05
# Of the largest residual variance of all joints.
LEAST_SHARE_OF_JOINT = 1e-12


@dataclass(frozen=True)
class Likelihood:
    """
    The rows of an observation with the states they were made from.

    :param robot: the Robot.
    :param slope: alpha of the friction, None for sign(dq).
    :param W: (R, n, b) rows, zero where a row is left out.
    :param Y: (R, n) torques, likewise.
    :param used: (R, n) rows that count.
    :param x: (3, R, n) q, dq, ddq of the rows.
    :param gains: (3, 3) G.
    :param position_std: (n,) white noise of the measured positions.
    :param variance: (n,) of the residual of each joint, over its mean square.
    """

    robot: Robot
    slope: float | None
    W: Array
    Y: Array
    used: NDArray[np.bool_]
    x: Array
    gains: Array
    position_std: Array
    variance: Array

    def step(self, chi: Array, kept: NDArray[np.bool_]) -> tuple[Array, Array]:
        """
        Return the (b,) change of chi, and the (R, n, p + 1) weighted rows [W rho] it solves.

        :param kept: (b,) parameters that are solved for.
        """
        q, dq, ddq = self.x
        A = np.stack(derivatives(self.robot, chi, q, dq, ddq, self.slope), axis=-1)
        A = A * self.used[:, :, None, None]
        moved = np.einsum('rjic,cd->rjid', A, self.gains) * (self.position_std**2)[:, None]
        Sigma = np.einsum('rjid,rkid->rjk', moved, A)
        rho = (self.Y - self.W @ chi) * self.used
        # The variance of the whole residual is known: the torque has the remaining part.
        whole = self.variance * _mean(rho**2, self.used)
        own = whole - _mean(np.einsum('rjj->rj', Sigma), self.used)
        # A joint without any residual must not have the weight of infinitely many others.
        least = np.maximum(
            LEAST_TORQUE_SHARE * whole, LEAST_SHARE_OF_JOINT * whole.max(initial=0.0)
        )
        Sigma += np.diag(np.maximum(own, least))
        try:
            root = np.linalg.cholesky(Sigma)
        except np.linalg.LinAlgError as error:
            raise IdentificationError(
                f'{self.robot.name}: the residual of the torques has no positive variance, so the '
                'noise of the positions cannot be weighed against it: use idim_wls'
            ) from error
        weighted = np.linalg.solve(Sigma, rho[:, :, None])[:, :, 0]
        u = -np.einsum('rjid,rj->dri', moved, weighted)
        W = self.W + self._change(u)
        rest = (self.Y - W @ chi - np.einsum('rjic,cri->rj', A, u)) * self.used
        rows = np.linalg.solve(root, np.concatenate([W[:, :, kept], rest[:, :, None]], axis=2))
        R = triangle(rows.reshape(-1, rows.shape[2]))
        change = np.zeros_like(chi)
        change[kept] = sl.solve_triangular(R[:-1, :-1], R[:-1, -1])
        return change, rows

    def _change(self, u: Array) -> Array:
        """(R, n, b) change of the rows by the estimated states."""
        if not u.any():
            return np.zeros_like(self.W)
        (q, dq, ddq), (uq, udq, uddq) = self.x, u
        estimated = regressor(self.robot, q - uq, dq - udq, ddq - uddq, self.slope)
        return (estimated - regressor(self.robot, q, dq, ddq, self.slope)) * self.used[:, :, None]


def likelihood(
    observation: Observation, position_std: Array, chi: Array, residual_std: Array
) -> Likelihood:
    """
    Return the likelihood of an observation.

    :param position_std: (n,) noise of the measured positions.
    :param residual_std: (n,) that of the residuals at (b,) chi, freedom allowed for.
    """
    W, Y, used = [], [], []
    wide, b = observation.wide, len(observation.names)
    for piece in observation.rows():
        rows = np.zeros((len(piece.time), observation.n, b))
        for j, columns in enumerate(observation.columns):
            rows[:, j, columns] = wide.of_joint(piece.values, j)[0]
        W.append(rows * piece.used[:, :, None])
        Y.append(wide.measured(piece.values) * piece.used)
        used.append(piece.used)

    def motion(s: States) -> Array:
        return np.concatenate([s.q, s.dq, s.ddq], axis=1)

    states = walk(observation.dataset, observation.processing, motion)
    x = np.concatenate([piece.values for piece in states])
    rows, torques, flags = np.concatenate(W), np.concatenate(Y), np.concatenate(used)
    squares = _mean((torques - rows @ chi) ** 2, flags)
    return Likelihood(
        observation.robot, wide.coulomb_slope, rows, torques, flags,
        np.stack(np.split(x, 3, axis=1)),
        noise_gains(observation.processing, observation.dataset.rate), position_std,
        residual_std**2 / np.maximum(squares, np.finfo(float).tiny),
    )  # fmt: skip


def noise_gains(processing: Processing, rate: float) -> Array:
    """
    (3, 3) covariance of q, dq, ddq of a decimated row for white positions of deviation one.

    Impulses at each phase of the decimation go through all filters; their squares are summed.
    """
    # Neither rest nor the time of the torques matters.
    return _noise_gains(
        replace(processing, rest_band=None, held_torque=False, torque_delay_s=None), rate
    )


@lru_cache(maxsize=8)
def _noise_gains(processing: Processing, rate: float) -> Array:
    factor = processing.decimation or 1
    half = (processing.border or 0) + (10 + end_rows(processing)) * factor
    position = np.zeros((2 * half + factor, factor))
    position[half + np.arange(factor), np.arange(factor)] = 1.0
    time = np.arange(len(position)) / rate
    parts = []
    for signal in differentiate(Run(time, position, np.zeros_like(position)), processing):
        plain = factor == 1 or processing.decimation_filter == 'none'
        parts.append((signal[::factor] if plain else decimate(signal, factor)).ravel())
    H = np.stack(parts)
    return H @ H.T


def lost_by_the_filter(observation: Observation) -> Array:
    """(n,) deviation of what the position filter takes away: the noise above its cut-off."""
    squares, count = np.zeros(observation.n), 0
    for run in observation.dataset.runs:
        q = whole_motion(run, observation.processing)[0]
        border = observation.processing.border or 0
        inner = slice(border, len(run) - border)
        squares += np.sum((run.position - q)[inner] ** 2, axis=0)
        count += len(q[inner])
    return np.sqrt(squares / max(count, 1))


def _mean(values: Array, used: NDArray[np.bool_]) -> Array:
    return np.sum(values * used, axis=0) / np.maximum(used.sum(axis=0), 1)


@dataclass(frozen=True)
class IdimMl(Idim):
    """
    Maximum likelihood of the inverse model with errors in variables (Olsen, Petersen 2001).

    Each row is weighted by what the noise of the positions does to it, and W is taken along the
    estimated motion, so that noise in W leaves no bias to first order. Without that noise it is
    idim_wls.

    :param position_std: noise of the measured positions, one or one for each joint; none: what
        the position filter takes away.
    :param iterations: largest number of iterations.
    """

    name: ClassVar[str] = 'idim_ml'
    linear: ClassVar[bool] = False
    least_squares: ClassVar[bool] = False
    takes_motion_as_exact: ClassVar[bool] = False

    position_std: NotNegative | Sequence[NotNegative] | None = None
    iterations: Annotated[int, Range(1, 1000)] = 20

    def fit(self, observation: Observation, system: System, progress: Progress) -> Fit:
        """Iterate from the weighted least squares solution."""
        weights, sigma = system.joint_weights()
        solution, R = system.solve(weights)
        noise = sigma * np.sqrt(solution.variance)
        if self.position_std is None:
            std = lost_by_the_filter(observation)
        else:
            std = per_item('position_std', self.position_std, observation.robot.joint_names)
        extras = {'joint_deviations': sigma.tolist(), 'position_std': std.tolist()}
        first = Fit(solution, R, weights, noise, extras)
        if not np.any(std > 0.0):
            return first
        problem = likelihood(observation, std, solution.chi, noise)
        chi, history, converged = solution.chi.copy(), list[Iteration](), False
        for k in range(self.iterations):
            progress(k / self.iterations, history_text(history))
            change, rows = problem.step(chi, solution.kept)
            chi = chi + change
            history.append(Iteration(chi, float('nan')))
            R = triangle(rows[:, :, :-1].reshape(-1, rows.shape[2] - 1))
            root = sl.solve_triangular(R, np.eye(len(R)))
            deviation = np.sqrt(np.sum(root**2, axis=1))
            if np.all(np.abs(change[solution.kept]) <= SETTLED * deviation):
                converged = True
                break
        covariance, known = np.full_like(solution.covariance, np.nan), root @ root.T
        if self.deviations != 'classical':
            residual = back(observation, problem.used.sum(axis=0)) * rows[:, :, -1]
            drawn = self.deviations == 'bootstrap'
            known = least_squares_covariance([rows[:, :, :-1]], [residual], drawn)
        covariance[np.ix_(solution.kept, solution.kept)] = known
        found = replace(solution, chi=chi, covariance=covariance)
        return replace(
            first, solution=found, iterations=len(history), history=tuple(history),
            converged=converged,
        )  # fmt: skip

    def state_deviations(self, fit: Fit, observation: Observation, system: System) -> Fit:
        """Return the fit: its covariance is that of its own rows, weighted one by one."""
        return fit if fit.history else super().state_deviations(fit, observation, system)
