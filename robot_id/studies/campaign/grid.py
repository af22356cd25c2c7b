"""The campaign file: a grid of conditions and methods, checked before anything runs."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_id import budget
from robot_id.exceptions import OptionError, RobotIdError
from robot_id.studies.campaign import entries
from robot_id.studies.campaign.world import check_world, has_start
from robot_id.yaml_text import YamlError, read_yaml

SETTINGS = ('name', 'seed', 'repetitions', 'seconds', 'memory')
MOST_CELLS = 10_000_000
# Part of every cell: rows of another form are computed again.
FORM = 2
Cell = dict[str, Any]


@dataclass(frozen=True)
class Campaign:
    """
    A grid of runs.

    :param name: for titles.
    :param axes: entries of each axis as plain values, see `entries`.
    :param repetitions: runs of each condition and method.
    :param seed: of the first repetition; all conditions and methods share the seeds.
    :param seconds: limit of one run.
    :param memory: bytes that one run may take over what its process has at rest.
    """

    name: str
    axes: dict[str, list[Any]]
    repetitions: int = 1
    seed: int = 0
    seconds: float = 300.0
    memory: int = 4 << 30

    def __len__(self) -> int:
        others = math.prod(
            len(found) for key, found in self.axes.items() if key not in ('methods', 'starts')
        )
        ways = sum(len(self._starts(method)) for method in self.axes['methods'])
        return self.repetitions * others * ways

    def cells(self) -> Iterator[Cell]:
        """Yield the description of every run; repetitions change slowest."""
        names = [key for key in self.axes if key not in ('methods', 'starts')]
        methods = [
            {'methods': method, 'starts': start}
            for method in self.axes['methods']
            for start in self._starts(method)
        ]
        for repetition in range(self.repetitions):
            for *chosen, method in itertools.product(*(self.axes[key] for key in names), methods):
                yield {
                    'form': FORM,
                    **dict(zip(names, chosen)),
                    **method,
                    'repetition': repetition,
                    'seed': self.seed + repetition,
                }

    def _starts(self, method: dict[str, Any]) -> list[Any]:
        """Return the starts of a method; one that starts nowhere runs once."""
        return self.axes['starts'] if has_start(method) else [None]


def key_of(cell: Cell) -> str:
    """Return the name of a cell: the hash of its description."""
    plain = json.dumps(cell, sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(plain.encode()).hexdigest()[:24]


def read_campaign(path: str | Path) -> Campaign:
    """
    Read and check a campaign file: every robot, motion and method is built once.

    :raises OptionError: one line with the file, the key and the fix.
    """
    path = Path(path)
    try:
        data = read_yaml(path)
    except OSError as error:
        raise OptionError(f'{path}: {error.strerror or error}') from error
    except YamlError as error:
        raise OptionError(f'{path}: {error}') from error
    try:
        campaign = parse(data, path.absolute().parent, path.stem)
        check_world(campaign.axes)
    except RobotIdError as error:
        raise OptionError(f'{path}: {error}') from error
    return campaign


def parse(data: Any, folder: Path, name: str = 'campaign') -> Campaign:
    """
    Check what a campaign file holds.

    :param folder: where relative paths start.
    """
    if not isinstance(data, dict):
        raise OptionError("a campaign file is a table with 'robots' and 'methods'")
    known = (*SETTINGS, *entries.AXES)
    entries.table(data, known, 'campaign')
    axes = {key: _axis(data, key, folder) for key in entries.AXES}
    campaign = Campaign(
        name=entries.text(data.get('name', name), 'name'),
        axes=axes,
        repetitions=entries.whole(data.get('repetitions', 1), 'repetitions', 1, MOST_CELLS),
        seed=entries.whole(data.get('seed', 0), 'seed', 0, 1 << 32),
        seconds=entries.number(data.get('seconds', 300), 'seconds', 0.001, budget.LONGEST_S),
        memory=budget.parse_memory(str(data.get('memory', '4GB'))),
    )
    if len(campaign) > MOST_CELLS:
        raise OptionError(f'{len(campaign)} runs, at most {MOST_CELLS} are supported')
    return campaign


def _axis(data: dict[str, Any], key: str, folder: Path) -> list[Any]:
    read, usual = entries.AXES[key]
    given = data.get(key, usual)
    if given is None:
        raise OptionError(f"key '{key}' is missing")
    if not isinstance(given, (list, tuple)):
        raise OptionError(f'{key}: a list is needed, got {given!r}')
    if not given:
        raise OptionError(f'{key}: the list is empty')
    found = [entry for k, each in enumerate(given) for entry in read(each, f'{key}[{k}]', folder)]
    for k, entry in enumerate(found):
        if entry in found[:k]:
            raise OptionError(f'{key}: the same entry appears twice ({entry})')
    return found
