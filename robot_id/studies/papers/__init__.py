"""The papers' tables, beside ours: one file per table, one line in the registry."""

from robot_id.studies.papers.comparison import Claim, Comparison, Section
from robot_id.studies.papers.registry import TABLES, reproduce

__all__ = ['TABLES', 'Claim', 'Comparison', 'Section', 'reproduce']
