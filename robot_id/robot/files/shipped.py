"""The shipped robot files."""

from __future__ import annotations

from pathlib import Path

from robot_id.share import share_directory


def robot_files() -> dict[str, Path]:
    """Return the shipped robot files by name."""
    return {
        path.stem: path for path in sorted((share_directory() / 'config/robots').glob('*.yaml'))
    }
