"""
The user's folder of compiled code, and the one line that says where nothing can be kept.

A cache saves time and nothing else: a disk that is full, a home that is missing or read-only and
a limit on the size of files never end the work.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

_log = logging.getLogger('robot_id')
_said: set[str] = set()


class CacheError(OSError):
    """The folder cannot be used."""


def folder() -> Path:
    """
    Return the folder of compiled code; create it if needed.

    :raises CacheError: where it cannot be made, or others could write into it.
    """
    base = os.environ.get('XDG_CACHE_HOME', '')
    try:
        root = Path(base) if os.path.isabs(base) else Path.home() / '.cache'
        path = root / 'robot_id'
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise CacheError(f'{path} is not a folder of this user')
        if found.st_mode & 0o077:
            path.chmod(0o700)
        if not os.access(path, os.W_OK | os.X_OK):
            raise CacheError(f'{path} cannot be written')
    except CacheError:
        raise
    except (OSError, RuntimeError) as error:
        raise CacheError(f'no folder for compiled code: {error}') from error
    return path


def not_kept(error: OSError) -> None:
    """Say once in a process that compiled code is not kept, and why."""
    if not _said:
        reason = error.strerror or str(error)
        where = f' ({error.filename})' if error.filename else ''
        _log.warning(
            'compiled code is not kept: %s%s; the next start compiles again', reason, where
        )
        _said.add(reason)


def forget_what_was_said() -> None:
    """Let the line appear again."""
    _said.clear()
