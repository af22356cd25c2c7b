"""Packages that only some commands need: the extras of setup.py."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from robot_id.exceptions import RobotIdError

# Top-level module -> the extra that brings it.
EXTRAS = {
    'rosbags': 'bags',
    'lz4': 'bags',
    'backports': 'bags',
    'matplotlib': 'plots',
    'clarabel': 'physical',
    'xacro': 'xacro',
    'pandas': 'frames',
    'nicegui': 'studio',
    'dask': 'campaign',
    'distributed': 'campaign',
    'pyarrow': 'campaign',
}
# Extra -> its packages: their names work from a clone and from a wheel alike.
PACKAGES = {
    'bags': ['rosbags', 'lz4', *(['backports.zstd'] if sys.version_info < (3, 14) else [])],
    'plots': ['matplotlib'],
    'physical': ['clarabel'],
    'xacro': ['xacro'],
    'frames': ['pandas'],
    'studio': ['nicegui'],
    'campaign': ['dask', 'distributed', 'pyarrow'],
}


class MissingExtra(RobotIdError):
    """
    A command needs a package that is not installed.

    :param module: what could not be imported.
    """

    def __init__(self, module: str) -> None:
        self.module = module
        self.extra = EXTRAS[module]
        packages = ' '.join(PACKAGES[self.extra])
        super().__init__(f'this needs {module}: python -m pip install {packages}')


def optional(module: str) -> Any:
    """
    Return an optional package.

    :raises MissingExtra: naming what to install.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtra(module) from error


def missing_extra(error: ModuleNotFoundError) -> MissingExtra | None:
    """Return the error to show for a failed import, None if no extra provides the module."""
    module = (error.name or '').partition('.')[0]
    return MissingExtra(module) if module in EXTRAS else None
