"""
The user's folder of compiled functions: private, replaced in one step, checked on loading.

A function KEY is two files: `KEY.json` names the library and its SHA-256, `KEY-HASH.so` is it. The
first is written last and at once, so another process sees a whole entry or none; an entry that is
damaged, writable by others or owned by another user is not loaded but built again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
import time
from pathlib import Path

from robot_id.user_cache import CacheError, folder, not_kept

HOUR_S, UNUSED_S = 3600.0, 90 * 24 * 3600.0
REFUSAL_S = 24 * 3600.0


def find(key: str) -> bytes | str | None:
    """
    Return the library of a key, or why it cannot be built (str), or None when it is not there.

    The bytes that were checked are what is loaded, so nothing can change in between or later.
    """
    try:
        home = folder()
    except CacheError:
        return None
    entry = _read(home / f'{key}.json')
    if entry is None:
        return None
    try:
        content = json.loads(entry)
        if 'refused' in content:
            fresh = 0.0 <= time.time() - float(content['time']) < REFUSAL_S
            return str(content['refused']) if fresh else None
        name, digest = str(content['library']), str(content['sha256'])
    except (ValueError, KeyError, TypeError, UnicodeDecodeError):
        return None
    path = home / name
    if path.parent != home:
        return None
    library = _read(path)
    if library is None or hashlib.sha256(library).hexdigest() != digest:
        return None
    for used in (path, home / f'{key}.json'):
        _touch(used)
    return library


def store(key: str, library: Path, compiler: str) -> bytes:
    """Put a freshly built library into the folder, where there is one; return its content."""
    content = library.read_bytes()
    try:
        home = folder()
        digest = hashlib.sha256(content).hexdigest()
        place = home / f'{key}-{digest[:16]}.so'
        _write(place, content)
        entry = {'library': place.name, 'sha256': digest, 'compiler': compiler}
        _write(home / f'{key}.json', json.dumps(entry).encode())
    except OSError as error:
        not_kept(error)
    return content


def refuse(key: str, why: str) -> None:
    """Remember for a day that a function cannot be built, so that it is not tried again."""
    try:
        entry = {'refused': why, 'time': time.time()}
        _write(folder() / f'{key}.json', json.dumps(entry).encode())
    except OSError as error:
        not_kept(error)


def workplace() -> tempfile.TemporaryDirectory[str]:
    """
    Return a new private folder inside the cache to build in, on the same file system.

    :raises OSError: where the cache cannot be written.
    """
    home = folder()
    _tidy(home)
    return tempfile.TemporaryDirectory(prefix='building-', dir=home)


def _write(path: Path, content: bytes) -> None:
    """Write a private file in one step."""
    handle, name = tempfile.mkstemp(prefix='building-', dir=path.parent)
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise


def _read(path: Path) -> bytes | None:
    """Return a file that is this user's alone, no link; None for any other."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, 'rb') as file:
        found = os.fstat(handle)
        private = found.st_uid == os.geteuid() and not found.st_mode & 0o077
        try:
            return file.read() if private and stat.S_ISREG(found.st_mode) else None
        except OSError:
            return None


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(path)


def _tidy(home: Path) -> None:
    """Remove files of killed processes and files that were not used for long."""
    now = time.time()
    for path in home.iterdir():
        left = path.name.startswith('building-')
        try:
            if now - path.lstat().st_mtime < (HOUR_S if left else UNUSED_S):
                continue
            if path.is_dir() and not path.is_symlink():
                for inner in path.iterdir():
                    inner.unlink()
                path.rmdir()
            else:
                path.unlink()
        except OSError:
            continue
