"""Files that requests name: below one configured directory, and nowhere else."""

from __future__ import annotations

from pathlib import Path

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
