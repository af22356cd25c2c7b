"""
Files are replaced in one step: written beside their place, synced to disk, then renamed.

A process that dies in the middle, or a disk that is full, leaves the previous file.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

BACKUP = '~'
# Bytes of a file name that file systems take.
LONGEST_NAME = 255


@contextlib.contextmanager
def replacing(path: str | Path, keep_previous: bool = False) -> Iterator[Path]:
    """
    Yield a new file to write; at the end of the block it takes the place of `path`.

    When the block fails, `path` is as it was and the new file is gone. The draft keeps the endings
    of the name, since writers choose the format by them. Anything but a plain file (a pipe, a
    terminal, /dev/null) is written directly.

    :param keep_previous: keep the previous file as `path~`.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        yield path
        return
    target = Path(os.path.realpath(path))
    # Twelve bytes are left for what makes the name of the draft its own.
    ending = _last(f'.{target.name}', LONGEST_NAME - 12)
    number, name = tempfile.mkstemp(suffix=ending, prefix='.', dir=target.parent)
    draft = Path(name)
    try:
        os.fchmod(number, _mode(target))
        os.close(number)
        yield draft
        _to_disk(draft)
        if keep_previous and target.exists():
            _keep(target)
        draft.replace(target)
        _to_disk(target.parent)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_text(path: str | Path, text: str, keep_previous: bool = False) -> None:
    """Write a text file (UTF-8) in one step, see `replacing`."""
    with replacing(path, keep_previous) as draft:
        draft.write_text(text, encoding='utf-8')


def _mode(target: Path) -> int:
    """Return the permissions of the file that is replaced, or those of a fresh one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def backup_of(path: Path) -> Path:
    """Return where the previous file is kept: `path~`, of a long name the end of that."""
    return path.with_name(_last(path.name + BACKUP, LONGEST_NAME))


def _last(name: str, size: int) -> str:
    """Return the last bytes of a name, at the border of a character."""
    return os.fsencode(name)[-size:].decode(errors='ignore')


def _keep(target: Path) -> None:
    """Give the previous file a second name; it keeps its own until the new file replaces it."""
    backup = backup_of(target)
    own = f'.{os.getpid()}{BACKUP}'
    other = target.with_name('.' + _last(target.name, LONGEST_NAME - 1 - len(own)) + own)
    try:
        os.link(target, other)
    except OSError:  # a file system without hard links
        other.write_bytes(target.read_bytes())
        _to_disk(other)
    other.replace(backup)


def _to_disk(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        # Some file systems cannot sync a folder; the other calls report a lost write.
        if not path.is_dir():
            raise error
    finally:
        os.close(number)
