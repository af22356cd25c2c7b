"""Sends the cells of a campaign to Dask and writes the rows as they arrive."""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from robot_id.exceptions import OptionError, RobotIdError
from robot_id.guarded import Answer, Request, answers
from robot_id.progress import Progress, silent
from robot_id.studies.campaign.cell import Row, empty_row, run_cell
from robot_id.studies.campaign.grid import Campaign, Cell, key_of, read_campaign
from robot_id.studies.campaign.limits import Limits
from robot_id.studies.campaign.store import Store

# Batches in flight for each thread: enough that none waits, few enough to be lost.
AHEAD = 2
# Duration of a batch of short cells [s]: client, scheduler and worker take about 50 ms for each.
BATCH_S, LARGEST_BATCH = 2.0, 40
# How often the threads of the cluster are counted [s]: each time is a question to the scheduler.
COUNT_S = 2.0
# Time that rows wait for others before they are written [s].
FLUSH_S, FLUSH_ROWS = 1.0, 500
CONNECT_S = 10.0
# A cell that lost its worker this many times is a failure.
DEATHS = 10
NAME = 'robot_id.studies.campaign.engine'


def request_of(cell: Cell, seconds: float, memory: int) -> Request:
    """Return the request for a cell that may take so many seconds and bytes."""
    return {'cell': cell, 'seconds': seconds, 'memory': memory}


def row_of(cell: Cell, answer: Answer) -> Row:
    """Return the row of a cell; the end of its process is the row of a failure."""
    row, cause = answer
    return empty_row(cell) | {'failure': cause} if row is None else row


def main() -> None:
    """Answer requests until the input ends."""
    limits = Limits()
    with _answers() as answers:
        print('ready', file=answers, flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            limits.begin(request['seconds'], request['memory'])
            row = run_cell(request['cell'])
            limits.end()
            row['cell_seconds'] -= limits.compiling_s
            print(json.dumps(row), file=answers, flush=True)


def _answers() -> TextIO:
    """Return a file on the standard output; what a library prints goes to the errors."""
    channel = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)
    return channel


if __name__ == '__main__':
    main()


class LostScheduler(RobotIdError):
    """The scheduler went away; what was done is kept."""


def run_campaign(
    campaign_file: str | Path,
    folder: str | Path,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress = silent,
) -> Store:
    """
    Run what a campaign still lacks, and return its folder.

    :param workers: of a cluster on this machine; None: one per core.
    :param scheduler: address of a running Dask scheduler, instead.
    :param progress: called with the fraction done; its text gives the runs and the time left.
    """
    campaign, store = read_campaign(campaign_file), Store(folder)
    if workers is not None and not 1 <= workers <= 1024:
        raise OptionError(f'workers: {workers} must lie between 1 and 1024')
    store.create(Path(campaign_file))
    with store.lock():
        done = store.keys()
        missing = ((key_of(cell), cell) for cell in campaign.cells())
        todo = ((key, cell) for key, cell in missing if key not in done)
        first = next(todo, None)
        if first is None:
            return store
        before = sum(key_of(cell) in done for cell in campaign.cells()) if done else 0
        progress(0.0, 'starting the workers')
        with _client(workers, scheduler) as client:
            progress(0.0, f'first runs; the Dask dashboard is at {client.dashboard_link}')
            dispatcher = _Dispatcher(client, campaign, store, progress, before)
            dispatcher.run(_chain(first, todo))
    return store


def _chain(first: tuple[str, Cell], rest: Iterator[tuple[str, Cell]]) -> Iterator[Any]:
    yield first
    yield from rest


@contextmanager
def _client(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """Yield a client of a cluster on this machine, or of a running scheduler."""
    import dask
    from distributed import Client, LocalCluster

    settings = {
        'distributed.scheduler.allowed-failures': DEATHS,
        'distributed.comm.timeouts.connect': f'{CONNECT_S}s',
        # Dask watches itself fifty times a second in each process: time that the cells need.
        'distributed.worker.profile.enabled': False,
        'distributed.admin.tick.interval': '1s',
        'distributed.admin.system-monitor.interval': '10s',
        'distributed.client.scheduler-info-interval': '10s',
        # Two batches wait at each worker, and their rows are small: nothing to move about.
        'distributed.scheduler.work-stealing-interval': '1s',
        'distributed.scheduler.active-memory-manager.start': False,
    }
    # Its processes log each lost connection; we report what matters.
    logging.getLogger('distributed').setLevel(logging.CRITICAL)
    logging.getLogger('distributed.nanny').setLevel(logging.CRITICAL)
    with dask.config.set(settings):
        if scheduler is not None:
            try:
                client = Client(scheduler, timeout=CONNECT_S)
            except (OSError, ValueError, TypeError) as error:
                raise OptionError(f'scheduler: nothing answers at {scheduler}') from error
            try:
                yield client
            finally:
                client.close(timeout=CONNECT_S)
            return
        cluster = LocalCluster(
            n_workers=workers or os.cpu_count() or 1, threads_per_worker=1, processes=True,
            memory_limit=0, dashboard_address='127.0.0.1:0', host='127.0.0.1',
        )  # fmt: skip
        with cluster, Client(cluster) as client:
            yield client


class _Dispatcher:
    """Keeps a few batches of cells in flight for each worker, and writes their rows."""

    def __init__(
        self, client: Any, campaign: Campaign, store: Store, progress: Progress, before: int
    ) -> None:
        self.client, self.campaign, self.store = client, campaign, store
        self.progress, self.before = progress, before
        self.finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.under_way: dict[Any, list[Cell]] = {}
        self.rows: list[Row] = []
        self.done, self.cell_seconds = 0, 0.0
        self.started = self.flushed = time.monotonic()
        self.threads, self.counted = 1, float('-inf')

    def run(self, todo: Iterator[tuple[str, Cell]]) -> None:
        """Run all cells; whatever ends it, rows that have come are kept."""
        try:
            more = True
            while more or self.under_way:
                for _ in range(self._room() if more else 0):
                    batch = list(islice(todo, self._size()))
                    more = bool(batch)
                    if not more:
                        break
                    self._submit(batch)
                if self.under_way:
                    self._collect()
        finally:
            self._flush()

    def _room(self) -> int:
        if self._alive() and time.monotonic() - self.counted > COUNT_S:
            self.threads = max(sum(self.client.nthreads().values()), 1)
            self.counted = time.monotonic()
        return AHEAD * self.threads - len(self.under_way)

    def _size(self) -> int:
        """
        Return the number of cells of the next batch, from the time of those so far.

        The last batches are smaller, so that all workers end at about the same time.
        """
        if not self.done:
            return 1
        mean = max(self.cell_seconds / self.done, 1e-3)
        waiting = sum(len(cells) for cells in self.under_way.values())
        left = len(self.campaign) - self.before - self.done - waiting
        share = left / (AHEAD * self.threads)
        return int(max(min(BATCH_S / mean, LARGEST_BATCH, share), 1.0))

    def _submit(self, batch: list[tuple[str, Cell]]) -> None:
        cells = [cell for _, cell in batch]
        limits = self.campaign.seconds, self.campaign.memory
        future = self.client.submit(
            answers, NAME, [request_of(cell, *limits) for cell in cells],
            key=f'cells-{batch[0][0]}-{len(batch)}', pure=False,
        )  # fmt: skip
        self.under_way[future] = cells
        future.add_done_callback(self.finished.put)

    def _collect(self) -> None:
        """Wait for the next row and take all that are there."""
        if not self._alive():
            raise self._lost()
        try:
            self._take(self.finished.get(timeout=0.5))
            while True:
                self._take(self.finished.get_nowait())
        except queue.Empty:
            pass
        if len(self.rows) >= FLUSH_ROWS or time.monotonic() - self.flushed > FLUSH_S:
            self._flush()
        self._report()

    def _take(self, future: Any) -> None:
        cells = self.under_way.pop(future, None)
        if cells is None:
            return
        if future.status == 'finished':
            rows = [row_of(*both) for both in zip(cells, future.result())]
        elif future.status != 'error':  # cancelled or lost with the scheduler: cells in flight
            raise self._lost()
        elif len(cells) > 1:  # one of them is to blame
            for cell in cells:
                self._submit([(key_of(cell), cell)])
            return
        else:
            failure = f'{type(future.exception()).__name__}: the worker could not run the cell'
            rows = [empty_row(cells[0]) | {'failure': failure}]
        self.rows += rows
        self.done += len(rows)
        # A cell that was cut off has no duration: the limit is a lower bound.
        limit = self.campaign.seconds
        taken = [row['cell_seconds'] for row in rows]
        self.cell_seconds += sum(each if each == each else limit for each in taken)

    def _alive(self) -> bool:
        return self.client.status == 'running'

    def _lost(self) -> LostScheduler:
        return LostScheduler(
            f'the scheduler is gone; {self.store.folder} keeps the finished runs: run the same '
            'command again to continue'
        )

    def _flush(self) -> None:
        self.store.append(self.rows)
        self.rows, self.flushed = [], time.monotonic()

    def _report(self) -> None:
        total, at = len(self.campaign), self.before + self.done
        seconds = time.monotonic() - self.started
        left = seconds / self.done * max(total - at, 0) if self.done else float('nan')
        self.progress(min(at / total, 1.0), f'{at} of {total} runs, {duration(left)} left')


def duration(seconds: float) -> str:
    """Return a time for people."""
    if seconds != seconds:
        return '?'
    minutes, rest = divmod(round(seconds), 60)
    return f'{minutes // 60}:{minutes % 60:02d}:{rest:02d}'
