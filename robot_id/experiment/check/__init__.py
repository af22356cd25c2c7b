"""The check before the fit: wrong units, signs, clocks, columns, mounts and motions."""

from robot_id.experiment.check.checking import check
from robot_id.experiment.check.finding import Finding, Findings, Remedy

__all__ = ['Finding', 'Findings', 'Remedy', 'check']
