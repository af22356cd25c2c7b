"""What the runs of a data set are called, where several are shown together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from robot_id.data.dataset import Run


def run_labels(runs: Sequence[Run | None]) -> tuple[str, ...]:
    """
    Return a name for each run: its file, with a number where a file has several.

    :param runs: None for one of which nothing is known but its place.
    """
    names = [run.name if run is not None and run.name else 'run' for run in runs]
    short = {name: _without_folders(name) for name in names}
    if len(set(short.values())) < len(short):
        short = {name: name for name in names}
    called = [short[name] for name in names]
    many, seen = Counter(called), Counter[str]()
    found = []
    for name in called:
        seen[name] += 1
        found.append(f'{name} ({seen[name]})' if many[name] > 1 else name)
    return tuple(found)


def _without_folders(name: str) -> str:
    """Return 'a.csv + b.csv' for paths of joined files."""
    return ' + '.join(Path(part).name for part in name.split(' + '))
