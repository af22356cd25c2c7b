"""The shipped robot files, and what a robot was loaded from: enough to load it again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robot_id.share import share_directory


def robot_files() -> dict[str, Path]:
    """Return the shipped robot files by name."""
    return {
        path.stem: path for path in sorted((share_directory() / 'config/robots').glob('*.yaml'))
    }


@dataclass(frozen=True)
class RobotSource:
    """
    The file of a robot.

    :param path: shipped name, or absolute path of a robot file, URDF or xacro.
    :param sha256: of the robot file and of the URDF, as they were read.
    :param locked: joints that were locked besides those of the file, with their position.
    :param xacro_args: arguments of a xacro.
    """

    path: str
    sha256: str
    locked: Mapping[str, float] = field(default_factory=dict)
    xacro_args: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        found: dict[str, Any] = {'path': self.path, 'sha256': self.sha256}
        if self.locked:
            found['locked'] = dict(self.locked)
        if self.xacro_args:
            found['xacro_args'] = dict(self.xacro_args)
        return found


def digest(*files: Path | None) -> str:
    """Return the SHA-256 of the contents of files, one after the other."""
    total = hashlib.sha256()
    for file in files:
        if file is not None:
            total.update(file.read_bytes())
    return total.hexdigest()
