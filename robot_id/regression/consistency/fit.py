"""
Physically consistent standard parameters, nearest to what the data say.

min ||R B x - z||^2 + prior(x) with every body's pseudo-inertia positive definite, rotor inertias
and friction not negative, and the bounds of the robot file. R chi = z is the data's own system in
units of its noise, B takes standard to base parameters.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.exceptions import IdentificationError
from robot_id.regression.consistency import conic, newton
from robot_id.regression.consistency.constraints import Constraints, constraints_of
from robot_id.regression.consistency.prior import Prior, heavier, mass_factor, prior_of
from robot_id.regression.consistency.program import Program
from robot_id.regression.consistency.pseudo_inertia import (
    congruence,
    pseudo_inertia,
    smallest_eigenvalues,
    svec,
)
from robot_id.regression.solvers.triangular import column_sizes
from robot_id.robot import Robot

Array = NDArray[np.float64]
# The logarithm of a drive's parameter: it keeps the sign and says next to nothing of the size.
_DRIVE_WEIGHT = 0.01
_BOUND_WEIGHT = 0.01
# Data are trusted to this relative accuracy at most: beyond it lies rounding.
_SHARPEST = 1e6
_FREE = 1e-4


@dataclass(frozen=True)
class PhysicalFit:
    """
    A physically consistent robot.

    :param x: (s,) standard parameters.
    :param chi: (b,) their base parameters.
    :param covariance: (s, s) of x, data and prior together.
    :param data_share: (s,) 1 - (variance with the data / variance of the prior alone).
    :param prior: the prior bodies.
    :param smallest: (nb,) smallest eigenvalue of each pseudo-inertia in the body's own size.
    """

    x: Array
    chi: Array
    covariance: Array
    data_share: Array
    prior: Prior
    smallest: Array


class Fitter:
    """
    The part of a physical fit that depends on the robot alone; many data sets may use it.

    :param robot: the Robot.
    :param prior: the prior bodies, those of the robot when None.
    :param solver: 'newton', 'clarabel', or 'auto': Newton, and Clarabel should it fail.
    """

    def __init__(self, robot: Robot, prior: Prior | None = None, solver: str = 'auto') -> None:
        self.robot = robot
        self.prior = prior or prior_of(robot)
        total = robot.description.bounds.total_mass
        if prior is None and total is not None and not robot.description.bounds.links:
            self.prior = heavier(self.prior, total.value)
        self.solver = solver
        self.constraints: Constraints = constraints_of(robot)
        self.B = base_matrix(robot)
        L: Array = np.asarray(np.linalg.cholesky(pseudo_inertia(self.prior.rows)), float)
        self._bodies = congruence(L)  # (nb, 10, 10) from svec in units of the prior

    def fit(self, R: Array, z: Array) -> PhysicalFit:
        """
        Fit to R chi = z.

        :param R: (r, b) with noise of unit variance in z.
        :param z: (r,).
        """
        if not (np.all(np.isfinite(R)) and np.all(np.isfinite(z))):
            raise IdentificationError('the system to constrain has values that are not finite')
        found = self._fit(R, z)
        if _within_chance(R, z, found.chi):
            return found
        if (factor := mass_factor(self.robot, self.prior, R @ self.B, z)) is None:
            return found
        scaled = self._with(replace(self.prior, rows=factor * self.prior.rows))._fit(R, z)
        return min(found, scaled, key=lambda fit: float(np.linalg.norm(R @ fit.chi - z)))

    def _fit(self, R: Array, z: Array) -> PhysicalFit:
        """Fit with this prior."""
        T, y0 = self._units(R, z)
        A, b = R @ self.B @ T, z - R @ (self.B @ (T @ y0))
        if (total := self.robot.description.bounds.total_mass) is not None:
            masses = np.zeros(T.shape[0])
            masses[self.robot.inertial_index[:, 9]] = 1.0
            std = total.std or 0.01 * total.value
            A = np.vstack([A, masses @ T / std])
            b = np.append(b, (total.value - masses @ T @ y0) / std)
        free = self._free()
        ridge = _FREE * np.eye(T.shape[0])[free]
        N = self._freedom(T)
        sharpness = np.linalg.norm(A, axis=0).max(initial=0.0)
        calm = min(1.0, _SHARPEST / max(sharpness, 1e-300))
        program = self._program(T, y0, N, np.vstack([calm * A, ridge]), calm * b)
        v = self._solve(program)
        x = T @ program.y(v)
        covariance, share = _information(
            program.pulled(A), program.prior_slopes(v)[1], program.pulled(T)
        )
        rows = self.robot.standard.inertial_rows(x)
        return PhysicalFit(
            x, self.B @ x, covariance, share, self.prior, smallest_eigenvalues(rows)
        )

    def project(self, chi: Array, covariance: Array) -> PhysicalFit:
        """
        Fit to an estimate with its covariance.

        :param chi: (b,).
        :param covariance: (b, b), NaN rows where an estimate says nothing.
        """
        return self.fit(*whitened(chi, covariance))

    def _with(self, prior: Prior) -> Fitter:
        """Return the same for another prior."""
        other = copy(self)
        other.prior = prior
        other._bodies = congruence(np.asarray(np.linalg.cholesky(pseudo_inertia(prior.rows))))
        return other

    def _solve(self, program: Program) -> Array:
        """Solve by Newton alone, or by Clarabel and polish by Newton: the minimum is the same."""
        if self.solver != 'clarabel':
            try:
                return newton.minimise(program)
            except IdentificationError:
                if self.solver == 'newton' or not conic.available():
                    raise
        start = conic.minimise(program)
        if start is None or not np.isfinite(program.value(start)):
            raise IdentificationError('the physical parameters were not found: Clarabel gave up')
        return newton.minimise(program, start)

    def _free(self) -> NDArray[np.int64]:
        """Columns without any sign: offsets and the like."""
        bound = {*self.robot.inertial_index.ravel(), *self.constraints.drive_columns}
        every = range(len(self.robot.standard_names))
        return np.array([k for k in every if k not in bound], np.int64)

    def _units(self, R: Array, z: Array) -> tuple[Array, Array]:
        """
        Return T (s, s) and y0 (s,) with x = T y, every y of the order of one.

        Bodies in units of their prior (y0 = svec of the identity), drives in units of what the
        data say about them (y0 = 1), the rest in deviations (y0 = 0).
        """
        T = self._frame(self._bodies, self._sizes(R, z))
        y0 = np.zeros(len(T))
        y0[self.robot.inertial_index] = svec(np.eye(4))
        y0[self.constraints.drive_columns] = 1.0
        free = self._free()
        T[free, free] = 1.0 / column_sizes(R @ self.B[:, free])
        return T, y0

    def local_units(self, x: Array) -> Array:
        """
        (s, s) T: a step x + T s stays possible while every body's and drive's part is below one.

        :param x: (s,) strictly possible (units of the barrier: Dikin's ellipsoid).
        """
        L = np.linalg.cholesky(pseudo_inertia(self.robot.standard.inertial_rows(x)))
        drives = self.constraints.drives @ x[self.constraints.drive_columns]
        T = self._frame(congruence(np.asarray(L, float)), drives)
        free = self._free()
        T[free, free] = np.abs(x[free]) + 1.0
        return T

    def _frame(self, bodies: Array, drives: Array) -> Array:
        """
        (s, s) T with bodies and drives in units of their own; zero columns of the free ones.

        :param bodies: (nb, 10, 10) from svec to inertial parameters, drives (m,) sizes.
        """
        s, columns = len(self.robot.standard_names), self.constraints.drive_columns
        T = np.zeros((s, s))
        for own, block in zip(self.robot.inertial_index, bodies):
            T[np.ix_(own, own)] = block
        T[np.ix_(columns, columns)] = np.linalg.solve(self.constraints.drives, np.diag(drives))
        # A direct rotor is a part of its link, and it is the whole that must be a body.
        for rotor, own, weights in self.robot.direct_columns:
            T[own] -= weights[:, None] * T[rotor]
        return T

    def _sizes(self, R: Array, z: Array) -> Array:
        """(m,) order of size of each drive parameter: a priori, else the base value it is in."""
        chi = sl.lstsq(R, z, lapack_driver='gelsy')[0]
        names, known = self.robot.standard_names, self.robot.description.a_priori
        sizes: list[float] = []
        direct = {rotor for rotor, _, _ in self.robot.direct_columns}
        for column in self.constraints.drive_columns:
            effect = np.abs(self.B[:, column])
            values = np.abs(chi[effect > 0.5 * effect.max(initial=0.0)]) if effect.any() else []
            if column in direct:
                sizes.append(1e-6)
                continue
            guess = known.get(names[column], 0.0) or float(np.max(values, initial=0.0))
            sizes.append(float(np.clip(guess, 1e-4, 1e4)))
        return np.array(sizes)

    def _freedom(self, T: Array) -> Array | None:
        """(s, k) orthonormal basis of the y that keep the equalities, None for all of them."""
        if not len(self.constraints.equal):
            return None
        rows = self.constraints.equal @ T
        return sl.null_space(rows / np.linalg.norm(rows, axis=1, keepdims=True), rcond=1e-10)

    def _program(self, T: Array, y0: Array, N: Array | None, A: Array, b: Array) -> Program:
        drives = self.constraints.drive_columns
        rows, offset = self.constraints.bounds @ T, self.constraints.offset
        start = rows @ y0 + offset
        if np.any(start <= 0.0):
            raise IdentificationError(f'{self.robot.name}: the bounds of its links contradict')
        u = np.repeat([_DRIVE_WEIGHT, _BOUND_WEIGHT], [len(drives), len(rows)])
        return Program(
            A=A if N is None else A @ N,
            b=np.append(b, np.zeros(len(A) - len(b))),
            y0=y0,
            N=N,
            bodies=self.robot.inertial_index,
            w=self.prior.weights,
            drives=drives,
            slacks=rows / start[:, None],
            offset=offset / start,
            u=u,
            l=np.where(np.arange(len(u)) < len(drives), u, 0.0),
        ).triangular()


def _within_chance(R: Array, z: Array, chi: Array) -> bool:
    """Whether what chi adds to the least squares of R x = z is no more than its noise explains."""
    free = sl.lstsq(R, z, lapack_driver='gelsy')[0]
    more = np.sum((R @ chi - z) ** 2) - np.sum((R @ free - z) ** 2)
    return bool(more <= len(chi))


def base_matrix(robot: Robot) -> Array:
    """(b, s) matrix B with chi = B x."""
    base = robot.base
    B = np.zeros((len(base), len(base.standard_names)))
    B[np.arange(len(base)), base.columns] = 1.0
    B[:, base.dependent] = base.beta
    return base.factor[:, None] * B


def whitened(chi: Array, covariance: Array) -> tuple[Array, Array]:
    """Return R (p, b) and z (p,) with ||R x - z||^2 = (x - chi)' C^-1 (x - chi)."""
    known = np.isfinite(np.diag(covariance)) & (np.diag(covariance) > 0.0)
    if not known.any():
        raise IdentificationError(
            'physical: the method has no standard deviations, so the parameters have no weights'
        )
    C = covariance[np.ix_(known, known)]
    scale = np.sqrt(np.diag(C))
    values, vectors = np.linalg.eigh(C / scale[:, None] / scale)
    # What rounding made negative is known to rounding.
    values = np.maximum(values, 1e-12 * values[-1])
    R = np.zeros((len(scale), len(chi)))
    R[:, known] = (vectors / np.sqrt(values)).T / scale
    return R, R @ np.where(known, chi, 0.0)


def _information(A: Array, prior: Array, T: Array) -> tuple[Array, Array]:
    """
    Return the (s, s) covariance 2 H^-1 in x = T v at the minimum, and the (s,) share of the data.

    :param A: (r, k) of the data.
    :param prior: (k, k) Hessian of the prior.
    :param T: (s, k).
    """
    k = prior.shape[0]
    prior = prior + 1e-12 * np.trace(prior) / k * np.eye(k)
    half = np.linalg.cholesky(prior / 2.0).T
    both = np.asarray(sl.qr(np.vstack([A, half]), mode='r')[0])[:k]
    after = sl.solve_triangular(both, T.T, trans='T')
    before = sl.solve_triangular(half, T.T, trans='T')
    covariance = after.T @ after
    with np.errstate(divide='ignore', invalid='ignore'):
        share = 1.0 - np.sum(after**2, axis=0) / np.sum(before**2, axis=0)
    return covariance, np.clip(np.nan_to_num(share), 0.0, 1.0)
