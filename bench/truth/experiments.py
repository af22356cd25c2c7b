"""Experiments of a robot whose truth is known, each identified by every method."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import robot_id
from robot_id.dynamics import Disturbances
from robot_id.exceptions import RobotIdError
from robot_id.methods import registry
from robot_id.robot import load_robot
from robot_id.tasks.recording import record

Row = dict[str, Any]
# The rooms that an estimate depends on.
ROOMS = (
    'model',
    'dynamics',
    'trajectory',
    'data',
    'control',
    'regression',
    'online',
    'estimation',
)


def rows(
    robot: str,
    methods: Sequence[str],
    seeds: Iterable[int],
    noise: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Iterator[Row]:
    """
    Yield one row for each experiment and method: estimates, deviations, and processor time.

    The robot performs its own motion in its own loop; all methods read the same recording.

    :param noise: the noise of the robot file; without it what remains is bias of the method.
    :param options: of every method, over its defaults.
    """
    model = load_robot(robot)
    for seed in seeds:
        dataset = record(model, seed=seed, disturbances=None if noise else Disturbances())
        for method in methods:
            key = {'robot': robot, 'method': method, 'seed': seed, 'version': version()}
            yield key | _row(model, dataset, method, dict(options or {}))


def _row(robot: Any, dataset: Any, method: str, options: dict[str, Any]) -> Row:
    started = time.process_time()
    try:
        result = registry.create(method, options).estimate(robot, dataset)
    except RobotIdError as error:
        return {'failure': str(error)}
    except Exception as error:  # A study of hours goes on; the page counts it as failed.
        return {'failure': f'{type(error).__name__}: {error}'}
    return {
        'names': list(result.names),
        'truth': [float(v) for v in robot.truth()],
        'values': [float(v) for v in result.values],
        'std': [float(v) for v in result.std],
        'converged': bool(result.converged),
        'seconds': time.process_time() - started,
    }


def read(folder: Path) -> list[Row]:
    """Return the rows of a folder that this code has made; those of another state are old."""
    lines = (path.read_text().splitlines() for path in sorted(folder.glob('*.jsonl')))
    rows = [json.loads(line) for part in lines for line in part if line.strip()]
    return [row for row in rows if row.get('version') == version()]


@cache
def version() -> str:
    """Return a check sum of the sources that an estimate depends on."""
    home, found = Path(robot_id.__file__).parent, 0
    for path in sorted(path for room in ROOMS for path in (home / room).rglob('*.py')):
        found = zlib.crc32(path.read_bytes(), found)
    return f'{found:08x}'
