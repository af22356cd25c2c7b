"""The friction terms: a new one is a file in this folder and a line here."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.robot.friction.term import Column, FrictionTerm

_FILES = (
    'viscous',
    'coulomb',
    'offset',
    'asymmetric_viscous',
    'asymmetric_coulomb',
    'quadratic',
    'load',
    'load_viscous',
    'stribeck',
    'smooth_coulomb',
    'temperature_viscous',
    'temperature_coulomb',
)

TERMS: dict[str, FrictionTerm] = {
    term.name: term
    for term in (import_module(f'robot_id.robot.friction.{file}').TERM for file in _FILES)
}
# Atoms of kind 0 are rotors; kind k is column k - 1 of this list.
ROTOR = 0
COLUMNS: tuple[tuple[FrictionTerm, Column], ...] = tuple(
    (term, column) for term in TERMS.values() for column in term.columns
)
DEFAULT = ('viscous', 'coulomb', 'offset')


def kind_of(name: str, column: int = 0) -> int:
    """Return the kind of the atoms of a term's column."""
    return 1 + COLUMNS.index((TERMS[name], TERMS[name].columns[column]))


def check_terms(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names; ValueError for terms that do not exist or do not go together."""
    names = tuple(names)
    for name in names:
        if name not in TERMS:
            raise ValueError(f'no such friction term, got {name!r}: {did_you_mean(name, TERMS)}')
        if names.count(name) > 1:
            raise ValueError(f"'{name}' appears more than once")
        for other in TERMS[name].replaces:
            if other in names:
                raise ValueError(f"choose '{other}' or '{name}', not both")
        for other in TERMS[name].holds:
            if other in names:
                raise ValueError(f"'{name}' already holds the '{other}', choose one of them")
    return names


def parse_terms(text: str) -> tuple[str, ...]:
    """Return the terms of a comma-separated list; OptionError names the first bad one."""
    try:
        return check_terms(name.strip() for name in text.split(',') if name.strip())
    except ValueError as error:
        raise OptionError(f'friction: {error}', code='no_term') from error
