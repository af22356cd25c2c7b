"""The figures that the papers print, and where measured data may be."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from robot_id.share import share_directory


@cache
def _all() -> dict[str, Any]:
    return yaml.safe_load((share_directory() / 'config' / 'papers' / 'figures.yaml').read_text())


def printed(paper: str) -> dict[str, Any]:
    """Return the printed figures of one paper."""
    return _all()[paper]


def measured(name: str) -> Path | None:
    """Return a folder of measurements beside the repository, None where it is not."""
    beside = Path(__file__).resolve().parents[3].parent / 'shared'
    folder = Path(os.environ.get('ROBOT_ID_SHARED', beside)) / 'data' / name
    return folder if folder.is_dir() else None
