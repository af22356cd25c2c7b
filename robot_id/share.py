"""Where the shipped robot files, URDFs and settings are: in the source tree or in a ROS share."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from robot_id.exceptions import DescriptionError


def share_directory() -> Path:
    """Return the folder that holds `config` and `urdf` (source tree, or share/robot_id)."""
    package = Path(__file__).resolve().parent
    candidates = [
        package.parent,
        *(parent / 'share' / 'robot_id' for parent in package.parents),
        Path(sysconfig.get_paths()['data']) / 'share' / 'robot_id',
    ]
    for folder in candidates:
        if (folder / 'config' / 'robots').is_dir():
            return folder
    raise DescriptionError('the shipped robot files are missing: reinstall robot_id')
