"""The papers' tables, beside ours: one file per table, one line in the registry."""

from robot_id.report.reproduce.claim import Claim
from robot_id.report.reproduce.comparison import Comparison, Section
from robot_id.report.reproduce.registry import TABLES, reproduce

__all__ = ['TABLES', 'Claim', 'Comparison', 'Section', 'reproduce']
