"""
Predicted standard deviations of an identification on a motion.

Relative accuracy refers to the expected values of the parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from robot_id import dynamics
from robot_id.exceptions import DescriptionError, OptionError
from robot_id.excitation.recorded import Recorded
from robot_id.robot import Robot
from robot_id.robot.friction import COLUMNS
from robot_id.trajectory.reference import Reference
from robot_id.trajectory.trajectory import Array


def _friction_stems() -> list[tuple[str, ...]]:
    """Return the stems of friction parameters, those of one unit together."""
    stems: dict[str, list[str]] = {}
    for term, column in COLUMNS:
        for name in filter(None, (column.name, column.motor)):
            stems.setdefault(term.unit, []).append(name.partition('{')[0])
    return [tuple(group) for group in stems.values()]


# Parameters of one kind have one unit and are compared with each other.
_KINDS = (
    ('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ'),
    ('MX', 'MY', 'MZ'),
    ('M',),
    ('Ia',),
    *_friction_stems(),
)


def expected_values(robot: Robot) -> tuple[Array, str]:
    """Return (b,) chi_bar and where it came from: truth, a priori values or the URDF."""
    if robot.description.truth:
        return robot.truth(), "the robot file's truth"
    prior = robot.standard_prior()
    if robot.description.a_priori:
        given = robot.standard_vector(robot.description.a_priori, 'a_priori')
        return (
            robot.base.from_standard(np.where(given != 0.0, given, prior)),
            "the robot file's a priori values"
            + (' and the inertias of the URDF' if np.any(prior) else ''),
        )
    if not np.any(prior):
        raise DescriptionError(
            f"{robot.name}: no expected parameters: give 'truth' or 'a_priori' in the robot file, "
            'or inertias in the URDF'
        )
    return robot.base.from_standard(prior), 'the inertias of the URDF'


def weights_of_parameters(robot: Robot, chi: Array, floor: float = 0.02) -> Array:
    """
    Return (b,) |chi_bar| of eq. 9 with zeros and near zeros replaced.

    A relative accuracy makes no sense for a parameter that is zero. So none counts less than
    `floor` times the largest expected value of its kind (inertia, first moment, viscous, Coulomb
    with offset ...) on its own link, base or standard; where the link has none, of the link before
    it; and where no link has any, 1.

    :param chi: (b,) expected values.
    """
    sizes: dict[tuple[int, int], float] = {}
    standard = robot.standard_prior()
    for name, value in [*zip(robot.base.names, chi), *zip(robot.standard_names, standard)]:
        key = _kind_and_link(name)
        sizes[key] = max(sizes.get(key, 0.0), abs(float(value)))
    weights = np.abs(np.asarray(chi, float))
    for i, name in enumerate(robot.base.names):
        kind, link = _kind_and_link(name)
        links = [*range(link, 0, -1), *range(link + 1, robot.n + 1)]
        size = next((sizes[kind, k] for k in links if sizes.get((kind, k), 0.0) > 0.0), 0.0)
        weights[i] = max(weights[i], floor * size) or 1.0
    return weights


def _kind_and_link(name: str) -> tuple[int, int]:
    """Return (kind, link) of a parameter name such as ZZ1R, LMX2, Fcm6 or Fv3+."""
    match = re.match(r'([A-Za-z]+?)(\d+)', name)
    if match is None:
        return (len(_KINDS), 0)
    stem, link = match.group(1), int(match.group(2))
    for kind, stems in enumerate(_KINDS):
        if stem in stems or stem.removeprefix('L') in stems:
            return kind, link
    return (len(_KINDS), link)


@dataclass(frozen=True)
class Deviations:
    """
    Predicted standard deviations of the base parameters.

    :param names: (b,) parameters.
    :param expected: (b,) values they are expected to have, NaN where nothing is known.
    :param std: (b,) standard deviations, infinite where the motion does not excite a parameter.
    """

    names: tuple[str, ...]
    expected: Array
    std: Array

    @property
    def percent(self) -> Array:
        """(b,) 100 sigma / |chi|, infinite where the expected value is zero."""
        with np.errstate(divide='ignore', invalid='ignore'):
            percent = 100.0 * self.std / np.abs(self.expected)
        return np.where(self.expected == 0.0, np.inf, percent)

    def identified(self, percent: float = 10.0) -> list[str]:
        """Return the parameters whose percent deviation is below a bound."""
        return [name for name, p in zip(self.names, self.percent) if p < percent]


def predict_deviations(
    robot: Robot,
    reference: Reference,
    torque_std: Array,
    expected: Array | None = None,
    coulomb_slope: float | None = None,
    columns: Array | None = None,
    known: Recorded | None = None,
) -> Deviations:
    """
    Predict sigma of weighted least squares: C = (W^T G^T G W)^-1, G = diag(1/sigma_j).

    White torque noise of sigma_j at the rate of the reference, positions without noise, every
    sample used; a decimation that keeps the motion's band keeps the information. With R of the QR
    of G W, sigma_i is the norm of row i of R^-1.

    :param torque_std: (n,) noise of the torque samples, N.m or N.
    :param expected: (b,) values for the percentages, or None.
    :param columns: (b, p) combinations of the parameters to find, None for all of them; then
        `expected` is (p,), and the names are numbers.
    :param known: recordings that are identified together with the motion, sampled as it is.
    """
    noise = np.broadcast_to(np.asarray(torque_std, float), (robot.n,))
    if not np.all(np.isfinite(noise)) or np.any(noise <= 0.0):
        raise OptionError(f'the torque noise must be positive, got {np.min(noise):g}')
    q, dq, ddq = reference.position, reference.velocity, reference.acceleration
    parts = [dynamics.regressor(robot, q, dq, ddq, coulomb_slope)]
    for x, step in () if known is None else zip(known.states, known.steps):
        q, dq, ddq = np.swapaxes(x, 1, 2)
        rows = dynamics.regressor(robot, q, dq, ddq, coulomb_slope)
        parts.append(rows * np.sqrt(step / reference.step))
    W = np.concatenate(parts)
    names = robot.base.names
    if columns is not None:
        W, names = W @ columns, tuple(str(k) for k in range(columns.shape[1]))
    rows = (W / noise[:, None]).reshape(-1, W.shape[2])
    R = np.asarray(np.linalg.qr(rows, mode='r'))
    values = np.full(len(names), np.nan) if expected is None else np.asarray(expected, float)
    return Deviations(names, values, _row_norms_of_inverse(R))


def _row_norms_of_inverse(R: Array) -> Array:
    """Return the norms of the rows of R^-1, infinite for directions that R does not hold."""
    _, singular, Vt = scipy.linalg.svd(R)
    held = singular > singular[0] * len(singular) * np.finfo(float).eps
    if np.all(held):
        inverse = scipy.linalg.solve_triangular(R, np.eye(len(R)))
        return np.asarray(np.linalg.norm(inverse, axis=1))
    norms = np.linalg.norm(Vt[held].T / singular[held], axis=1)
    lost = np.linalg.norm(Vt[~held], axis=0) > 1e-6
    return np.where(lost, np.inf, norms)
