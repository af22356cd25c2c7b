"""Off-line estimators: one file per method, one registry, one result type."""

from robot_id.methods.registry import create, names
from robot_id.methods.result import Iteration, Result

__all__ = ['Iteration', 'Result', 'create', 'names']
