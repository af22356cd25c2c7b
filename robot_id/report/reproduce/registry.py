"""All reproducible tables by name."""

from __future__ import annotations

import importlib

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.progress import Progress, silent
from robot_id.report.reproduce.comparison import Comparison

# One line per table: its name and what it shows; the module of the same name (with _ for -) in
# this folder holds `build(progress) -> Comparison`.
TABLES: dict[str, str] = {
    'emps-ilic': 'Computed torque control that learns, EMPS (tables I and II of paper 003).',
}


def reproduce(name: str, progress: Progress = silent) -> Comparison:
    """Compute one table; an unknown name is refused with the nearest known one."""
    if name not in TABLES:
        raise OptionError(f"no table '{name}': {did_you_mean(name, TABLES)}")
    module = importlib.import_module(f'robot_id.report.reproduce.{name.replace("-", "_")}')
    return module.build(progress)
