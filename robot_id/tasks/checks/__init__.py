"""The check before the fit: wrong units, signs, clocks, columns, mounts and motions."""

from robot_id.tasks.checks.checking import check
from robot_id.tasks.checks.finding import Finding, Findings, Remedy

__all__ = ['Finding', 'Findings', 'Remedy', 'check']
