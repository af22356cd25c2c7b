"""Data to repeat a run: command line, versions and the files that were read."""

from __future__ import annotations

import hashlib
import platform
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

from robot_id import __version__

PACKAGES = ('numpy', 'scipy', 'pin', 'numba', 'rosbags')


@dataclass(frozen=True)
class Provenance:
    """
    Where a result comes from.

    :param command: the command line.
    :param files: (path, bytes, SHA-256) of every file of the data.
    :param versions: of this package, Python and what it computes with.
    :param date: when, UTC.
    """

    command: str
    files: tuple[tuple[str, int, str], ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    date: str = ''


def provenance(arguments: Sequence[str], paths: Iterable[str | Path]) -> Provenance:
    """Collect all of it; a folder (a bag) contributes each of its files."""
    files = []
    for path in map(Path, paths):
        inside = sorted(p for p in path.rglob('*') if p.is_file()) if path.is_dir() else [path]
        files += [(str(p), p.stat().st_size, _digest(p)) for p in inside]
    now = datetime.now(timezone.utc).strftime('%Y-%m-%d %H:%M UTC')
    return Provenance(shlex.join(arguments), tuple(files), versions(), now)


def versions() -> dict[str, str]:
    """Return the versions that figures can depend on."""
    found = {
        'robot_id': __version__,
        'Python': platform.python_version(),
        'system': f'{platform.system()} {platform.machine()}',
    }
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _digest(path: Path) -> str:
    total = hashlib.sha256()
    with path.open('rb') as stream:
        while block := stream.read(1 << 20):
            total.update(block)
    return total.hexdigest()
