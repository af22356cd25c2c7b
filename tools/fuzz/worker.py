"""One process that runs cases by number and tells the watchdog about each."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import click

from robot_id.exceptions import RobotIdError
from tools.fuzz import inputs
from tools.fuzz.targets import Targets

LARGEST = 2 << 30
# Mutants beyond this are named by their number only.
_KEPT = 1 << 20


def main(seed: int, first: int, step: int, last: int) -> None:
    """Run the cases first, first + step ... below last; one JSON line on stdout for each."""
    with os.fdopen(os.dup(1), 'w') as report:
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        folder = Path(tempfile.mkdtemp(prefix='fuzz_'))
        try:
            os.chdir(folder)
            (folder / 'sound').mkdir()
            targets = Targets(inputs.build(folder / 'sound'), folder / 'mutant')
            targets.compile()
            with _nodes(targets) as note:
                _limit_memory()
                _tell(report, {'ready': first, 'note': note})
                for case in range(first, last, step):
                    _tell(report, {'start': case})
                    _tell(report, {'case': case, **run(targets, f'{seed}/{case}')})
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        # The middleware's threads need not be waited for.
        os._exit(0)


@contextlib.contextmanager
def _nodes(targets: Targets) -> Iterator[str]:
    """Add the nodes to the targets where ROS is there; yield what is left out."""
    try:
        from tools.fuzz.graph import own_domain
    except ImportError as error:
        yield f'no messages to nodes ({error})'
        return
    with own_domain():
        targets.add_nodes()
        yield ''
        targets.graph.close()


def run(targets: Targets, seed: str) -> dict[str, Any]:
    """Run one case and say how it ended."""
    draw = random.Random(seed)
    shutil.rmtree(targets.folder, ignore_errors=True)
    targets.folder.mkdir()
    answer: dict[str, Any] = {'end': 'read'}
    begun = time.process_time()
    try:
        answer['target'] = targets.run(draw)
    except RobotIdError as error:
        answer['end'] = 'refused'
        line = str(error)
        if '\n' in line or len(line) > 1300 or 'not enough memory' in line:
            answer |= {'bad': f'message: {line[:300]}'}
    except (click.ClickException, click.exceptions.Exit):
        answer['end'] = 'refused'
    except BaseException as error:
        place = traceback.format_exc()[-1500:]
        answer |= {'end': 'error', 'bad': f'{type(error).__name__}: {error}'[:300], 'at': place}
    answer['seconds'] = round(time.process_time() - begun, 4)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if used > LARGEST and 'bad' not in answer:
        answer['bad'] = f'{used >> 20} MB of memory'
    if 'bad' in answer and targets.mutant is not None and targets.mutant.is_file():
        raw = targets.mutant.read_bytes()
        if len(raw) <= _KEPT:
            answer['mutant'] = [targets.mutant.name, base64.b64encode(raw).decode()]
    return answer


def _limit_memory() -> None:
    """Allow 2 GB more of address space than the libraries have taken by now."""
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    limit = pages * resource.getpagesize() + LARGEST
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _tell(report: IO[str], message: dict[str, Any]) -> None:
    report.write(json.dumps(message) + '\n')
    report.flush()


if __name__ == '__main__':
    main(*map(int, sys.argv[1:5]))
