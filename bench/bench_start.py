"""How long a script and a command take to begin: processor time of whole processes."""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np

from bench.figure import Figure

REPEATS = 5
# What a start may take, ms of processor time.
IMPORT_MS, HELP_MS = 150.0, 300.0


def bench_start() -> list[Figure]:
    """`import robot_id` and the help of a verb, beside the bare interpreter and numpy."""
    bare = _milliseconds('-c', 'pass')
    ours = _milliseconds('-c', 'import robot_id')
    shown = _milliseconds('-m', 'robot_id.cli.main', 'identify', '--help')
    names = _milliseconds('-c', 'import robot_id; robot_id.identify, robot_id.load_robot')
    numpy = _milliseconds('-c', 'import numpy')
    return [
        Figure('interpreter alone', bare, 'ms'),
        Figure('import robot_id', ours, 'ms', '150 ms', IMPORT_MS / ours, 1.0),
        Figure('identify --help', shown, 'ms', '300 ms', HELP_MS / shown, 1.0),
        Figure('import numpy', numpy, 'ms'),
        Figure('first use of identify', names, 'ms'),
    ]


def _milliseconds(*arguments: str) -> float:
    """Return the median processor time of a Python process."""
    taken = []
    for _ in range(REPEATS):
        before = _children()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        taken.append(1e3 * (_children() - before))
    return float(np.median(taken))


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
