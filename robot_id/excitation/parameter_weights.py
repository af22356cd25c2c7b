"""Expected values of the parameters, to which their relative accuracy refers."""

from __future__ import annotations

import re

import numpy as np

from robot_id.exceptions import DescriptionError
from robot_id.robot import Robot
from robot_id.robot.friction import COLUMNS
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
