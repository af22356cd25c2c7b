"""Packages that only some commands need: the extras of setup.py."""

from __future__ import annotations

from robot_id.exceptions import RobotIdError

# Top-level module -> the extra that brings it.
EXTRAS = {
    'rosbags': 'bags',
    'lz4': 'bags',
    'backports': 'bags',
    'matplotlib': 'plots',
    'clarabel': 'physical',
    'dask': 'campaign',
    'distributed': 'campaign',
    'pyarrow': 'campaign',
}


class MissingExtra(RobotIdError):
    """
    A command needs a package that is not installed.

    :param module: what could not be imported.
    """

    def __init__(self, module: str) -> None:
        self.module = module
        self.extra = EXTRAS[module]
        super().__init__(f"this needs {module}: pip install 'robot_id[{self.extra}]'")


def missing_extra(error: ModuleNotFoundError) -> MissingExtra | None:
    """Return the error to show for a failed import, None if no extra provides the module."""
    module = (error.name or '').partition('.')[0]
    return MissingExtra(module) if module in EXTRAS else None
