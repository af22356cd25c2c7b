"""A change of the inertial parameters, read as a payload on the last link."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robot_id.json_numbers import finite_or_none
from robot_id.robot import Robot
from robot_id.robot.payload import payload_columns

Array = NDArray[np.float64]
# Inertial parameters of a link in the standard order, the mass last.
MASS = 9
# A load is present beyond this many deviations.
SIGNIFICANT = 3.0
# A direction weaker than this beside the strongest one holds rounding, not motion.
WEAK = 1e-8


@dataclass(frozen=True)
class LoadFit:
    """
    The solution of y = A p + unit noise, A = U S V' diag(scale).

    :param scale: (10,) norms of the columns of A, 0 where a parameter does not act.
    :param s: (r,) singular values of the determined directions.
    :param Vt: (r, 10) the directions, in parameters times `scale`.
    :param y: (r,) U' y.
    """

    scale: Array
    s: Array
    Vt: Array
    y: Array

    @classmethod
    def of(cls, A: Array, y: Array) -> LoadFit:
        """Fit to equations (m, 10) and (m,)."""
        scale = np.linalg.norm(A, axis=0)
        scaled = A / np.where(scale > 0.0, scale, 1.0)
        U, s, Vt = np.linalg.svd(scaled, full_matrices=False)
        determined = s > WEAK * max(s.max(initial=0.0), 1e-300)
        return cls(scale, s[determined], Vt[determined], U[:, determined].T @ y)

    @property
    def rank(self) -> int:
        """Number of determined directions."""
        return len(self.s)

    @property
    def rows(self) -> Array:
        """(r, 11) [A y], reduced to the determined directions."""
        return np.column_stack([self.s[:, None] * self.Vt * self.scale, self.y])

    def combinations(self, G: Array) -> tuple[Array, Array]:
        """(k,) G p and its deviations for (k, 10) combinations; NaN where not determined."""
        acts = self.scale > 0.0
        scaled = np.where(acts, G / np.where(acts, self.scale, 1.0), 0.0)
        along = scaled @ self.Vt.T
        size = np.linalg.norm(scaled, axis=1)
        # No share in an undetermined direction, nor in a parameter that does not act.
        known = np.abs(np.linalg.norm(along, axis=1) - size) <= 1e-6 * size
        known &= (size > 0.0) & ~np.any(G[:, ~acts] != 0.0, axis=1)
        spread = along / self.s
        return (
            np.where(known, spread @ self.y, np.nan),
            np.where(known, np.linalg.norm(spread, axis=1), np.nan),
        )


@dataclass(frozen=True)
class PayloadEstimate:
    """
    What the robot carries beyond its tare.

    :param mass: kg; None if the motion does not determine it.
    :param deviation: its standard deviation, kg.
    :param changes: (name, change, deviation) of inertial base parameters.
    :param significant: whether there is a load, also where its mass is not determined.
    :param standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M of the load in the frame of the last link,
        NaN where not determined; standard_deviations (10,).
    :param rows: (r, 11) [A y]: ||y - A p||^2 > 1 for a load p that the robot does not carry.
    """

    mass: float | None
    deviation: float
    changes: tuple[tuple[str, float, float], ...]
    significant: bool = False
    standard: Array = field(default_factory=lambda: np.full(10, np.nan))
    standard_deviations: Array = field(default_factory=lambda: np.full(10, np.nan))
    rows: Array = field(default_factory=lambda: np.zeros((0, 11)))

    def differs_from(self, load: Array) -> bool:
        """
        Whether the robot carries something other than a load.

        :param load: (10,) in the frame of the last link, zeros for none.
        """
        apart = self.rows[:, -1] - self.rows[:, :-1] @ load
        return bool(apart @ apart > 1.0)

    def clearly_differs_from(self, other: PayloadEstimate) -> bool:
        """Whether the masses differ by more than 3 deviations and 10 %, or only one is known."""
        if self.mass is None or other.mass is None:
            return self.mass is not other.mass
        return abs(self.mass - other.mass) > max(
            SIGNIFICANT * self.deviation, 0.1 * abs(other.mass)
        )

    def __str__(self) -> str:
        if self.mass is not None:
            return f'payload: {self.mass:.3g} kg +- {self.deviation:.2g} kg'
        if self.significant:
            return 'payload: present, but this motion does not determine its mass'
        return 'payload: not determined by this motion'


def estimate_payload(
    robot: Robot, before: Array, after: Array, covariance: Array, updated: NDArray[np.bool_]
) -> PayloadEstimate:
    """
    Fit the ten parameters of a load on the last link to a change of the base parameters.

    chi_after - chi_before = G p, weighted by the covariance of the change; p = [XX .. MZ M].

    :param covariance: (b, b) of the change, for the updated parameters.
    :param updated: (b,) which parameters were estimated both times.
    """
    G = payload_columns(robot)
    inertial = np.flatnonzero(updated & inertial_parameters(robot))
    change = after - before
    deviations = np.sqrt(np.diag(covariance))
    changes = tuple(
        (robot.base.names[i], float(change[i]), float(deviations[i])) for i in inertial
    )
    used = inertial[np.any(G[inertial] != 0.0, axis=1)]
    if not used.size:
        return PayloadEstimate(None, float('nan'), changes)
    # Whitened: L^-1 change = L^-1 G p + unit noise.
    C = covariance[np.ix_(used, used)]
    scale = np.sqrt(np.diag(C))
    scale = np.where(scale > 0.0, scale, 1.0)
    L = np.linalg.cholesky(C / np.outer(scale, scale) + 1e-12 * np.eye(len(used)))
    white = np.linalg.solve(L, np.column_stack([G[used], change[used]]) / scale[:, None])
    fit = LoadFit.of(np.asarray(white[:, :-1], float), np.asarray(white[:, -1], float))
    p, spread = fit.combinations(np.eye(10))
    mass = finite_or_none(p[MASS])
    if mass is not None:
        significant = abs(mass) > SIGNIFICANT * spread[MASS]
    else:
        significant = fit.y @ fit.y > SIGNIFICANT**2 * fit.rank
    return PayloadEstimate(mass, float(spread[MASS]), changes, bool(significant), p, spread)


def load_of_change(robot: Robot, change: Array) -> Array:
    """(10,) the smallest load on the last link that explains a change (b,), by least squares."""
    return np.asarray(np.linalg.lstsq(payload_columns(robot), change, rcond=1e-12)[0], float)


def inertial_parameters(robot: Robot) -> NDArray[np.bool_]:
    """(b,) base parameters that stand for inertias, moments and masses of links."""
    places = set(robot.inertial_index.ravel().tolist())
    rotor = [name.startswith('Ia') for name in robot.base.names]
    own = np.array([int(c) in places for c in robot.base.columns])
    return own | np.array(rotor)
