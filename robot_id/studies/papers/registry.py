"""All reproducible tables by name."""

from __future__ import annotations

import importlib

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.progress import Progress, silent
from robot_id.studies.papers.comparison import Comparison

# One line per table: its name and what it shows; the module of the same name (with _ for -) in
# this folder holds `build(progress) -> Comparison`.
TABLES: dict[str, str] = {
    'scara-iv': 'Instrumental variables and least squares, SCARA (tables 1 to 7 of paper 000).',
    'tx40-didim': 'DIDIM and CLOE, TX40 (table II of paper 001).',
    'online': 'On-line identification, two-link arm (claims of paper 002).',
    'emps-ilic': 'Computed torque control that learns, EMPS (tables I and II of paper 003).',
    'scara-ekf': 'Kalman filter against least squares, SCARA (tables 1 and 2 of paper 004).',
}


def reproduce(name: str, progress: Progress = silent) -> Comparison:
    """Compute one table; an unknown name is refused with the nearest known one."""
    if name not in TABLES:
        raise OptionError(f"no table '{name}': {did_you_mean(name, TABLES)}")
    module = importlib.import_module(f'robot_id.studies.papers.{name.replace("-", "_")}')
    return module.build(progress)
