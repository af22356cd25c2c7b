"""A scheduler started by hand, its worker killed, then itself: the table stays the same."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
import yaml

pytest.importorskip('distributed')
pytest.importorskip('pyarrow')

from robot_id.guarded import GuardedProcess
from robot_id.studies.campaign import read_campaign
from robot_id.studies.campaign.engine import NAME, request_of, row_of
from robot_id.studies.campaign.store import TIMES, Store

GRID = {
    'robots': ['scara'],
    'motions': [{'random': 4}],
    'methods': ['idim_wls'],
    'repetitions': 200,
}


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


@pytest.fixture
def cluster():
    """Start parts of a cluster, each a process group of its own; all are gone at the end."""
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, '-m', *map(str, arguments)], start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        kill(process)


def kill(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for_rows(store, more, client):
    """Wait until the store has more rows than so many."""
    while client.poll() is None and store.table().num_rows <= more:
        time.sleep(0.2)
    return store.table().num_rows


def test_worker_and_scheduler_are_killed_and_the_table_is_the_same(tmp_path, cluster):
    path, out = tmp_path / 'grid.yaml', tmp_path / 'out'
    path.write_text(yaml.safe_dump(GRID))
    port = free_port()
    address = f'tcp://127.0.0.1:{port}'
    scheduler = ('distributed.cli.dask_scheduler', '--host', '127.0.0.1', '--port', port,
                 '--no-dashboard')  # fmt: skip
    worker = ('distributed.cli.dask_worker', address, '--nthreads', 1, '--no-nanny',
              '--no-dashboard')  # fmt: skip
    client = ('robot_id.cli.main', 'campaign', path, '--out', out, '--scheduler', address)
    store = Store(out)

    first = cluster(*scheduler)
    workers = [cluster(*worker), cluster(*worker)]
    running = cluster(*client)
    rows = wait_for_rows(store, 0, running)
    kill(workers[0])
    rows = wait_for_rows(store, rows, running)
    kill(first)
    assert running.wait() == 2
    kill(workers[1])
    assert rows < GRID['repetitions']

    cluster(*scheduler)
    cluster(*worker)
    assert cluster(*client).wait() == 0
    assert (out / 'summary.json').is_file()
    table = store.table().drop_columns(list(TIMES))
    process = GuardedProcess(NAME)
    cells = list(read_campaign(path).cells())
    found = [process.answer(request_of(cell, 60.0, 4 << 30)) for cell in cells]
    process.close()
    undisturbed = Store(tmp_path / 'undisturbed')
    undisturbed.create(path)
    undisturbed.append([row_of(*both) for both in zip(cells, found)])
    assert table.num_rows == GRID['repetitions']
    assert table.equals(undisturbed.table().drop_columns(list(TIMES)))
