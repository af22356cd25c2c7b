"""Off-line estimators: one file per method, one registry, one result type."""

import sys
from types import ModuleType

from robot_id.methods.registry import MethodList, create, methods, names
from robot_id.methods.result import Iteration, Result

__all__ = ['Iteration', 'Result', 'create', 'names']


class _Room(ModuleType):
    """This folder is also the public function `robot_id.methods()`, which lists what it holds."""

    def __call__(self) -> MethodList:
        """Return all methods with their options."""
        return methods()


sys.modules[__name__].__class__ = _Room
