"""
Base parameters: the smallest set that the torques depend on (Gautier 1991, numerical QR).

On random states W_st has dependent columns. Going through the columns in a fixed order of
preference, a column that is independent of those already taken becomes a base column; any other is
W_d = W_b beta, and its parameter is regrouped: chi_b = chi_st[b] + beta chi_st[d].
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean

Array = NDArray[np.float64]

# So that names match the literature: these of every link first, then the rotor, then the rest.
PREFERENCE = (('XX', 'XY', 'XZ', 'YZ', 'ZZ', 'MX', 'MY'), ('Ia',), ('YY',), ('MZ',), ('M',))

# A column this small against the largest is zero.
ZERO = 1e-9


@dataclass(frozen=True)
class BaseParameters:
    """
    The standard columns that are base columns, and the parameters regrouped into them.

    :param names: (b,) names, with the suffix R where something was regrouped.
    :param columns: (b,) indices into the standard parameters.
    :param dependent: (d,) indices of the regrouped standard parameters.
    :param beta: (b, d) chi_b = factor * (chi_st[columns] + beta chi_st[dependent]).
    :param factor: (b,) scale of renamed parameters (LMX2 = L * MX2), else 1.
    :param standard_names: (s,).
    """

    names: tuple[str, ...]
    columns: NDArray[np.int64]
    dependent: NDArray[np.int64]
    beta: Array
    factor: Array
    standard_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Return the place of a base parameter by its name."""
        return self.names.index(name)

    def from_standard(self, chi_st: Array) -> Array:
        """(s,) -> (b,) base parameters of a standard set."""
        chi_st = np.asarray(chi_st, float)
        return self.factor * (chi_st[self.columns] + self.beta @ chi_st[self.dependent])

    def to_standard(self, chi: Array, prior: Array | None = None) -> Array:
        """
        (b,) -> (s,) one standard set with these base parameters.

        :param prior: (s,) values that all other parameters keep (zero without it).
        """
        chi_st = np.zeros(len(self.standard_names)) if prior is None else np.array(prior, float)
        chi_st[self.columns] = np.asarray(chi) / self.factor - self.beta @ chi_st[self.dependent]
        return chi_st

    def grouping(self, k: int) -> str:
        """Return the relation of base parameter k, such as 'ZZ1R = ZZ1 + Ia1 + 0.25*M2'."""
        terms = [self.standard_names[self.columns[k]]]
        for coefficient, d in zip(self.beta[k], self.dependent):
            if coefficient == 0.0:
                continue
            size = '' if abs(coefficient) == 1.0 else f'{abs(coefficient):.6g}*'
            terms.append(f'{"-" if coefficient < 0 else "+"} {size}{self.standard_names[d]}')
        right = ' '.join(terms)
        if self.factor[k] != 1.0:
            right = (
                f'{self.factor[k]:.6g}*({right})'
                if len(terms) > 1
                else f'{self.factor[k]:.6g}*{right}'
            )
        return f'{self.names[k]} = {right}'


def preference_order(
    names: tuple[str, ...], last: frozenset[str] = frozenset()
) -> NDArray[np.int64]:
    """Return the order in which columns are tried for the base; friction comes late."""

    def rank(name: str) -> int:
        if name in last:
            return len(PREFERENCE) + 1
        stem = re.sub(r'\d+[+-]?$', '', name)
        for k, group in enumerate(PREFERENCE):
            if stem in group:
                return k
        return len(PREFERENCE)

    return np.array(sorted(range(len(names)), key=lambda i: (rank(names[i]), i)), np.int64)


def find_base(
    W: Array,
    names: tuple[str, ...],
    renamed: dict[str, tuple[str, float]] | None = None,
    last: frozenset[str] = frozenset(),
    tolerance: float = 3e-5,
) -> BaseParameters:
    """
    Find the base columns of a regressor of random states.

    :param W: (r, s) standard regressor with many more rows than columns.
    :param renamed: standard name -> (name, factor) of base parameters under another name.
    :param last: names never in the base, since others span their column (direct rotors).
    :param tolerance: a column of unit length that adds less than this to the others is the
        rounding of a description; those of real arms add 0.03 and more.
    """
    order = preference_order(names, last)
    norms = np.linalg.norm(W, axis=0)
    scale = norms.max()
    live = [i for i in order if norms[i] > ZERO * scale]
    # Gram-Schmidt, twice for accuracy: the remainder of a column is what it adds to the others.
    Q, basis = np.empty((W.shape[0], 0)), []
    rest, rounding = [], 0.0
    for i in live:
        column = W[:, i] / norms[i]
        residual = column - Q @ (Q.T @ column)
        residual -= Q @ (Q.T @ residual)
        size = np.linalg.norm(residual)
        if size > tolerance:
            Q = np.column_stack([Q, residual / size])
            basis.append(i)
        else:
            rest.append(i)
            rounding = max(rounding, float(size))
    if not basis:
        raise DescriptionError('no parameter has any effect on the torques', code='no_effect')
    columns, dependent = np.array(sorted(basis)), np.array(sorted(rest), np.int64)
    if len(dependent):
        beta = scipy.linalg.lstsq(
            W[:, columns] / norms[columns], W[:, dependent] / norms[dependent]
        )[0]
        beta[np.abs(beta) < 10.0 * rounding] = 0.0
        beta = _clean(beta * norms[dependent] / norms[columns][:, None])
    else:
        beta = np.zeros((len(columns), 0))
    _refuse_mixed_friction(beta, names, columns, dependent)
    renamed = renamed or {}
    base_names, factor = [], np.ones(len(columns))
    for k, column in enumerate(columns):
        name = names[column]
        if name in renamed:
            name, factor[k] = renamed[name]
        base_names.append(name + ('R' if np.any(beta[k]) else ''))
    unknown = set(renamed) - {names[c] for c in columns}
    if unknown:
        hint = did_you_mean(min(unknown), [names[c] for c in columns])
        raise DescriptionError(f"renamed: '{min(unknown)}' is not a base parameter, {hint}")
    return BaseParameters(tuple(base_names), columns, dependent, beta, factor, names)


def _refuse_mixed_friction(
    beta: Array,
    names: tuple[str, ...],
    columns: NDArray[np.int64],
    dependent: NDArray[np.int64],
) -> None:
    """
    Refuse groupings with one-sided Coulomb friction.

    A constant force (gravity on a slide) is Fc+ less Fc-, but only as long as friction is a sign:
    the smooth friction of a simulation would lose it at rest.
    """
    rows, others = np.nonzero(beta)
    for i in sorted({*columns[rows], *dependent[others]}):
        if re.fullmatch(r'Fc\d+[+-]', names[i]):
            raise DescriptionError(
                f"asymmetric Coulomb friction '{names[i]}' cannot be separated from a constant: "
                "choose 'coulomb' and 'offset' for that joint, or 'rotor_inertia: none'",
                code='not_separable',
            )


def _clean(beta: Array) -> Array:
    """Remove rounding: a value within 1e-9 of zero or of a whole number is that number."""
    beta = np.where(np.abs(beta) < 1e-9, 0.0, beta)
    whole = np.round(beta)
    return np.where(np.abs(beta - whole) < 1e-9, whole, beta)
