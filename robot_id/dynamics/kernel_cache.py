"""
Deletes cached machine code whose sources have changed.

numba keeps a compiled kernel with the file it stands in, and does not notice that a function of
another file, which is compiled into it, has changed, or that a type it knows is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path

import numba

import robot_id


def forget_if_changed(name: str, sources: Iterable[Path], kernels: str = '*') -> None:
    """
    Delete the kernels on the disk when a source has changed since the last call.

    :param name: of this set of sources.
    :param sources: files that other files' kernels are made of.
    :param kernels: pattern of the file names, without .py, whose kernels these are.
    """
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(path.name.encode() + path.read_bytes())
    elsewhere = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    cache = Path(elsewhere or robot_id.__path__[0])
    stamps = Path(elsewhere) if elsewhere else Path(__file__).parent / '__pycache__'
    stamp = stamps / f'{name}.digest'
    with contextlib.suppress(OSError):  # an installation that cannot be written to
        if stamp.is_file() and stamp.read_text() == digest.hexdigest():
            return
        for index in cache.rglob(f'{kernels}.nbi'):
            index.unlink(missing_ok=True)
        stamps.mkdir(parents=True, exist_ok=True)
        stamp.write_text(digest.hexdigest())
