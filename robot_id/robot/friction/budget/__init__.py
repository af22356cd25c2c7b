"""Dry friction with stick: the terms of the budget, one file each, and structures of them."""

from robot_id.robot.friction.budget.registry import STRUCTURES, TERMS, VISCOUS, parse_structure
from robot_id.robot.friction.budget.term import BudgetTerm

__all__ = ['STRUCTURES', 'TERMS', 'VISCOUS', 'BudgetTerm', 'parse_structure']
