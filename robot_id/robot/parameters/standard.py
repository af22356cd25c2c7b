"""
Standard parameters: their names, their order, and where each kind stands in the vector.

Per joint, in the papers' order: XX XY XZ YY YZ ZZ MX MY MZ M of its link, then Ia and the friction
terms. A link takes the number of its joint; links of mimic joints are numbered after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.kinematics import Kinematics
from robot_id.robot.parameters.drive_terms import Terms
from robot_id.robot.parameters.inertia import INERTIAL

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class StandardParameters:
    """
    The s standard parameters of a robot.

    :param names: (s,).
    :param labels: (nb,) number of each body in the names.
    :param inertial_index: (nb, 10) where the inertial parameters of each body stand.
    :param term_index: (e,) where the rotor, friction and offset parameters stand.
    :param direct_columns: (column of Ia, columns of its link, (10,) weights) of directly driven
        joints, whose rotor is a part of the link.
    """

    names: tuple[str, ...]
    labels: tuple[int, ...]
    inertial_index: Index
    term_index: Index
    direct_columns: tuple[tuple[int, Index, Array], ...]

    @classmethod
    def of(
        cls, kinematics: Kinematics, terms: Terms, direct_rotors: dict[int, Array]
    ) -> StandardParameters:
        """Return the standard parameters of a mechanism with its drives."""
        labels = _labels(kinematics)
        names: list[str] = []
        for body in np.argsort(labels):
            names += [f'{stem}{labels[body]}' for stem in INERTIAL]
            j = labels[body] - 1
            if j < kinematics.n:
                names += [f'Ia{j + 1}'] if j in direct_rotors else []
                names += [t for t, owner in zip(terms.names, terms.joint) if owner == j]
        place = {name: k for k, name in enumerate(names)}
        inertial = np.array([[place[f'{stem}{k}'] for stem in INERTIAL] for k in labels], np.int64)
        direct = tuple(
            (place[f'Ia{j + 1}'], inertial[kinematics.own_body(j)], weights)
            for j, weights in direct_rotors.items()
        )
        index = np.array([place[name] for name in terms.names], np.int64)
        return cls(tuple(names), labels, inertial, index, direct)

    def inertial_rows(self, chi_st: Array) -> Array:
        """(nb, 10) inertial parameters of the bodies, direct rotors included."""
        chi_st = np.array(chi_st, float)
        for rotor, columns, weights in self.direct_columns:
            chi_st[columns] += chi_st[rotor] * weights
        return chi_st[self.inertial_index]

    def friction_places(self, name: str) -> list[int]:
        """Return where Fv or Fc of a joint stands: once, by direction, or nowhere."""
        return [k for k, own in enumerate(self.names) if own in (name, f'{name}+', f'{name}-')]

    def vector(self, values: Mapping[str, float], source: str) -> Array:
        """
        Return the (s,) vector of named parameters, the others zero.

        :param source: names the file and the key in errors.
        """
        chi_st = np.zeros(len(self.names))
        for name, value in values.items():
            if name not in self.names:
                hint = did_you_mean(name, self.names)
                raise DescriptionError(f"{source}: no standard parameter '{name}', {hint}")
            chi_st[self.names.index(name)] = value
        for label, mass in zip(self.labels, chi_st[self.inertial_index[:, 9]]):
            if mass < 0.0:
                raise DescriptionError(f'{source}: M{label} is negative ({mass:g} kg)')
        return chi_st


def _labels(kinematics: Kinematics) -> tuple[int, ...]:
    """(nb,) numbers of the bodies: that of their joint, then n + 1, n + 2 ... for mimics."""
    labels, extra = [], kinematics.n
    for name in kinematics.body_names:
        if name in kinematics.joint_names:
            labels.append(kinematics.joint_names.index(name) + 1)
        else:
            extra += 1
            labels.append(extra)
    return tuple(labels)
