"""Friction, one file for each term; see `term` for the definition and `registry` for the list."""

from robot_id.robot.friction.registry import (
    COLUMNS,
    DEFAULT,
    ROTOR,
    TERMS,
    check_terms,
    kind_of,
    parse_terms,
)
from robot_id.robot.friction.term import Column, Constant, FrictionTerm

__all__ = [
    'COLUMNS',
    'DEFAULT',
    'ROTOR',
    'TERMS',
    'Column',
    'Constant',
    'FrictionTerm',
    'check_terms',
    'kind_of',
    'parse_terms',
]
