"""
Machine code of friction that has changed since.

numba keeps compiled kernels with the file they stand in and does not notice that a function of
another file has changed. Friction terms are such functions: with a term more, or another one,
the kernels on the disk would compute yesterday's friction.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import robot_id
from robot_id.model import friction

_STAMP = 'friction.digest'


def forget_stale_kernels() -> None:
    """Delete kernels on the disk that were compiled with other friction terms."""
    digest = hashlib.sha256()
    for path in sorted(Path(friction.__file__).parent.glob('*.py')):
        digest.update(path.name.encode() + path.read_bytes())
    stamp = Path(__file__).parent / '__pycache__' / _STAMP
    with contextlib.suppress(OSError):  # an installation that cannot be written to
        if stamp.is_file() and stamp.read_text() == digest.hexdigest():
            return
        for index in Path(robot_id.__path__[0]).rglob('__pycache__/*.nbi'):
            index.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(digest.hexdigest())
