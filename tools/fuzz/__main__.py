"""
Starts the workers, watches them, and writes what broke.

    python -m tools.fuzz --seed 1 --cases 20000

A case over 30 s, over 2 GB, with an error that is none of ours, with a number that is none, or
read silently although its bytes had changed, is a failure; its input is kept under --keep.
"""

from __future__ import annotations

import argparse
import base64
import collections
import json
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SLOWEST_S = 30.0
# Importing and compiling before the first case.
STARTING_S = 900.0


@dataclass
class Worker:
    """A process and the case that it is at."""

    number: int
    process: subprocess.Popen[str]
    case: int
    since: float = field(default_factory=time.monotonic)
    ready: bool = False


class Watchdog:
    """Keeps the workers busy until all cases are done or the time is over."""

    def __init__(self, seed: int, cases: int, workers: int, minutes: float, keep: Path) -> None:
        self.seed, self.cases, self.workers, self.keep = seed, cases, workers, keep
        self.end = time.monotonic() + 60.0 * minutes
        self.ends: collections.Counter[str] = collections.Counter()
        self.failures: list[dict[str, Any]] = []
        self.seconds: collections.Counter[str] = collections.Counter()
        self.tried: collections.Counter[str] = collections.Counter()
        self.selector = selectors.DefaultSelector()

    def run(self) -> int:
        """Run all cases; return the number of failures."""
        for number in range(self.workers):
            self._start(number, number)
        while self.selector.get_map() and time.monotonic() < self.end:
            for key, _ in self.selector.select(timeout=1.0):
                self._hear(key.data, key.fileobj.readline())  # type: ignore[union-attr]
            for key in list(self.selector.get_map().values()):
                worker = key.data
                patience = SLOWEST_S if worker.ready else STARTING_S
                if time.monotonic() - worker.since > patience:
                    self._stop(worker, f'no answer within {patience:g} s')
        for key in list(self.selector.get_map().values()):
            key.data.process.kill()
        return len(self.failures)

    def _start(self, number: int, first: int) -> None:
        words = [sys.executable, '-m', 'tools.fuzz.worker']
        words += [str(each) for each in (self.seed, first, self.workers, self.cases)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.selector.register(
            process.stdout, selectors.EVENT_READ, Worker(number, process, first)
        )

    def _hear(self, worker: Worker, line: str) -> None:
        if not line:
            code = worker.process.wait()
            self.selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
            if code and worker.ready:
                self._failed({'case': worker.case, 'bad': f'the process ended with {code}'})
                self._start(worker.number, worker.case + self.workers)
            elif code:
                raise SystemExit(f'fuzz: a worker could not start ({code})')
            return
        message = json.loads(line)
        worker.since, worker.ready = time.monotonic(), True
        if message.get('note'):
            print(f'fuzz: {message["note"]}', flush=True)
        if 'start' in message:
            worker.case = message['start']
        elif 'case' in message:
            self.ends[message['end']] += 1
            target = message.get('target', message['end'])
            self.tried[target] += 1
            self.seconds[target] += message['seconds']
            if 'bad' in message:
                self._failed(message)

    def _stop(self, worker: Worker, reason: str) -> None:
        worker.process.kill()
        worker.process.wait()
        self.selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        self._failed({'case': worker.case, 'bad': reason})
        self._start(worker.number, worker.case + self.workers)

    def _failed(self, message: dict[str, Any]) -> None:
        self.failures.append(message)
        print(f'case {message["case"]}: {message["bad"]}', flush=True)
        self.keep.mkdir(parents=True, exist_ok=True)
        stem = f'{self.seed}_{message["case"]}'
        (self.keep / f'{stem}.txt').write_text(f'{message["bad"]}\n{message.get("at", "")}')
        if 'mutant' in message:
            name, raw = message['mutant']
            (self.keep / f'{stem}_{name}').write_bytes(base64.b64decode(raw))


def main() -> None:
    """Parse, run, report."""
    parser = argparse.ArgumentParser(prog='fuzz', description=__doc__)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--cases', type=int, default=20_000)
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--minutes', type=float, default=30.0)
    parser.add_argument('--keep', type=Path, default=Path('log/fuzz'))
    given = parser.parse_args()
    started = time.monotonic()
    dog = Watchdog(given.seed, given.cases, given.workers, given.minutes, given.keep)
    failures = dog.run()
    done = sum(dog.ends.values())
    print(
        f'fuzz: seed {given.seed}, {done} cases in {time.monotonic() - started:.0f} s: '
        f'{dog.ends["read"]} read, {dog.ends["refused"]} refused, {failures} failures'
        + (f', see {given.keep}' if failures else '')
    )
    spent = max(sum(dog.seconds.values()), 1e-9)
    print(f'fuzz: {done / spent:.1f} cases in a second of processor time')
    if done + failures < given.cases:
        print(f'fuzz: {given.cases - done} cases were not run within {given.minutes:g} minutes')
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
