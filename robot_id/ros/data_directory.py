"""Files and recordings that requests name: below one configured directory, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robot_id.data.io.bags.messages import is_bag
from robot_id.exceptions import DataError
from robot_id.ros.messages import ForbiddenPath
from robot_id.ros.parameter_table import Row

DATA_DIRECTORY = Row(
    'data_directory',
    '~/.ros/robot_id',
    'Directory of recordings and results; requests can only name files in it.',
)
# Longer names are refused: they are neither resolved nor repeated.
LONGEST = 1000


def shortened(text: str) -> str:
    """Return a text of a request for a message of one line."""
    return text if len(text) <= LONGEST else f'{text[:40]}... ({len(text)} characters)'


def below(directory: str | Path, name: str) -> Path:
    """
    Return the path of a file below the data directory.

    :raises ForbiddenPath: for absolute names, '..' and links that lead out of it.
    """
    root = Path(directory).expanduser().resolve()
    if len(name) > LONGEST:
        raise ForbiddenPath(f"'{shortened(name)}' is not a path below the data directory {root}")
    given = Path(name)
    if not name or '\0' in name or given.is_absolute() or '..' in given.parts:
        raise ForbiddenPath(f"'{name}' is not a path below the data directory {root}")
    path = (root / given).resolve()
    if path != root and root not in path.parents:
        raise ForbiddenPath(f"'{name}' leads out of the data directory {root}")
    return path


def recording_below(directory: str | Path, name: str) -> Path:
    """
    Return the path of a recording; all files that it stands for lie below the data directory.

    :raises ForbiddenPath: when the name, a link or the recording's own metadata lead out of it.
    :raises DataError: when there is none.
    """
    path = below(directory, name)
    if not path.exists():
        raise DataError(f"no recording '{name}' in {Path(directory).expanduser()}")
    if path.is_dir():
        root = below(directory, '.')
        for file in path.iterdir():
            if root not in file.resolve().parents:
                raise ForbiddenPath(f"'{name}/{file.name}' leads out of the data directory {root}")
        for part in _listed_files(path / 'metadata.yaml'):
            if Path(part).is_absolute() or '..' in Path(part).parts:
                raise ForbiddenPath(f"'{name}': its metadata name '{part}', a file outside of it")
    return path


def newest(directory: str | Path) -> str:
    """
    Return the name of the newest bag in the data directory.

    :raises DataError: when there is none.
    """
    root = Path(directory).expanduser()
    bags = [path for path in root.iterdir() if is_bag(path)] if root.is_dir() else []
    if not bags:
        raise DataError(f'no recording in {root} yet')
    return max(bags, key=lambda path: path.stat().st_mtime).name


def _listed_files(metadata: Path) -> list[str]:
    try:
        found: Any = yaml.safe_load(metadata.read_text())['rosbag2_bagfile_information']
        listed = list(found.get('relative_file_paths') or [])
        listed += [entry['path'] for entry in found.get('files') or []]
        return [str(part) for part in listed]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError):
        # Reading the bag will report what is wrong with it.
        return []
