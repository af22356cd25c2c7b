"""A change of the inertial parameters, read as a payload on the last link."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robot_id.model import Robot
from robot_id.model.json_numbers import finite_or_none
from robot_id.model.payload import payload_columns

Array = NDArray[np.float64]
# Inertial parameters of a link in the standard order, the mass last.
MASS = 9


@dataclass(frozen=True)
class PayloadEstimate:
    """
    What the robot carries beyond its tare, from the change of its parameters.

    :param mass: kg; None when the mass does not follow from the parameters that were updated.
    :param deviation: its standard deviation, kg.
    :param changes: (name, change, deviation) of every updated inertial parameter.
    :param standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M of the load in the frame of the last link,
        NaN where not determined; standard_deviations (10,).
    """

    mass: float | None
    deviation: float
    changes: tuple[tuple[str, float, float], ...]
    standard: Array = field(default_factory=lambda: np.full(10, np.nan))
    standard_deviations: Array = field(default_factory=lambda: np.full(10, np.nan))

    @property
    def significant(self) -> bool:
        """Whether the mass differs from zero by more than three deviations."""
        return self.mass is not None and abs(self.mass) > 3.0 * self.deviation

    def __str__(self) -> str:
        if self.mass is None:
            return 'payload: not determined by this motion'
        return f'payload: {self.mass:.3g} kg +- {self.deviation:.2g} kg'


class PayloadWatch:
    """
    Compares every accepted estimate with the robot's own, the tare.

    The tare is there once two updates agree. It follows the estimates one update behind, so that
    slow drift is no payload, and stands still while a payload is seen; a window that tells much
    less, such as one mostly at rest, does not replace it.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._tare: tuple[Array, Array] | None = None
        self._last: tuple[Array, Array] | None = None
        self._empty = True

    def tare(self) -> None:
        """Call the present load no payload."""
        self._tare, self._empty = self._last, True

    def see(
        self, values: Array, covariance: Array, passed: NDArray[np.bool_]
    ) -> PayloadEstimate | None:
        """
        Take in an accepted estimate; return the payload, None while the tare is not known.

        :param covariance: (b, b), NaN where a parameter was not estimated.
        """
        last, self._last = self._last, (values, covariance)
        if last is None:
            return None
        if self._tare is None:
            if _agree(last, self._last, passed):
                self._tare = self._last
            return None
        tared, uncertainty = self._tare
        updated = passed & np.isfinite(np.diag(uncertainty))
        payload = estimate_payload(self.robot, tared, values, uncertainty + covariance, updated)
        if not payload.significant and self._empty and _as_sure(last, self._tare):
            self._tare = last
        self._empty = not payload.significant
        return payload


def _agree(
    one: tuple[Array, Array], other: tuple[Array, Array], passed: NDArray[np.bool_]
) -> bool:
    """Whether two estimates differ by less than two deviations, or 0.2 %, in every parameter."""
    both = passed & np.isfinite(np.diag(one[1])) & np.isfinite(np.diag(other[1]))
    if not both.any():
        return False
    deviation = np.sqrt(np.diag(one[1] + other[1])[both])
    change = np.abs(one[0] - other[0])[both]
    return bool(np.all(change <= np.maximum(2.0 * deviation, 0.002 * np.abs(one[0][both]))))


def _as_sure(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether no deviation of one estimate is beyond twice that of the other."""
    variances = np.diag(one[1]), np.diag(other[1])
    known = np.isfinite(variances[0]) & np.isfinite(variances[1])
    return bool(np.all(variances[0][known] <= 4.0 * variances[1][known]))


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
    inertial = np.flatnonzero(updated & _inertial(robot))
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
    A = np.linalg.solve(L, G[used] / scale[:, None])
    y = np.linalg.solve(L, change[used] / scale)
    norms = np.linalg.norm(A, axis=0)
    live = np.flatnonzero(norms > 0.0)
    U, s, Vt = np.linalg.svd(A[:, live] / norms[live], full_matrices=False)
    rank = int(np.sum(s > 1e-8 * s[0]))
    # A parameter is determined if it has no share in the directions the change does not determine.
    found = np.abs(np.linalg.norm(Vt[:rank], axis=0) - 1.0) <= 1e-6
    rows = (Vt[:rank] / s[:rank, None]).T[found] / norms[live[found], None]
    standard, known = np.full(10, np.nan), np.full(10, np.nan)
    standard[live[found]] = rows @ (U[:, :rank].T @ y)
    known[live[found]] = np.linalg.norm(rows, axis=1)
    mass = finite_or_none(standard[MASS])
    return PayloadEstimate(mass, float(known[MASS]), changes, standard, known)


def _inertial(robot: Robot) -> NDArray[np.bool_]:
    """(b,) base parameters that stand for inertias, moments and masses of links."""
    places = set(robot.inertial_index.ravel().tolist())
    rotor = [name.startswith('Ia') for name in robot.base.names]
    own = np.array([int(c) in places for c in robot.base.columns])
    return own | np.array(rotor)
