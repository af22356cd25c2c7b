"""
A campaign on three hosts of one machine, with losses; its table against that of one host.

Usage (root, iproute2): .venv/bin/python -m tools.campaign_hosts [--repetitions 200] [--out FILE]
Each host is a network namespace with an address of its own, cabled to the first:

    head  the Dask scheduler
    one   a worker from the start: killed, started again
    two   the client, and a worker that joins late: its cable is pulled, and put in again

Prints a line for each event, and whether the rows are those of one host, bit for bit.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from robot_id.studies.campaign.engine import run_campaign
from robot_id.studies.campaign.store import TIMES, Store

PORT = 8786
# Longer than Dask takes to give up a silent connection [s].
CABLE_OUT_S = 120.0


class Hosts:
    """Network namespaces joined by cables, and the processes in them."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.tag = f'rid{os.getpid()}'
        self.names = names
        self.processes: list[subprocess.Popen[bytes]] = []

    def namespace(self, name: str) -> str:
        """Return the namespace of a host."""
        return f'{self.tag}{name}'

    def address(self, name: str) -> str:
        """Return the address of a host."""
        return f'10.77.{self.names.index(name)}.1'

    def create(self) -> None:
        """Make the namespaces; the first host has a cable to each other one, and forwards."""
        head, *others = self.names
        for name in self.names:
            _ip('netns', 'add', self.namespace(name))
            _ip('-n', self.namespace(name), 'link', 'set', 'lo', 'up')
        centre = self.namespace(head)
        _ip('-n', centre, 'address', 'add', f'{self.address(head)}/32', 'dev', 'lo')
        forward = 'net.ipv4.ip_forward=1'
        subprocess.run(['ip', 'netns', 'exec', centre, 'sysctl', '-qw', forward], check=True)
        for k, name in enumerate(others, 1):
            host, gateway = self.namespace(name), f'10.77.{k}.2'
            cable = ('link', 'add', 'eth', 'type', 'veth', 'peer', 'name', name, 'netns', centre)
            _ip('-n', host, *cable)
            for place, address, end in (
                (host, self.address(name), 'eth'),
                (centre, gateway, name),
            ):
                _ip('-n', place, 'address', 'add', f'{address}/24', 'dev', end)
                _ip('-n', place, 'link', 'set', end, 'up')
            _ip('-n', host, 'route', 'add', 'default', 'via', gateway)

    def cable(self, name: str, state: str) -> None:
        """Pull ('down') or put in ('up') the cable of a host, at the first host."""
        _ip('-n', self.namespace(self.names[0]), 'link', 'set', name, state)

    def start(self, name: str, *words: object) -> subprocess.Popen[bytes]:
        """Start Python on a host, in a process group of its own."""
        command = ['ip', 'netns', 'exec', self.namespace(name), sys.executable, '-m']
        process = subprocess.Popen(
            [*command, *map(str, words)], start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def remove(self) -> None:
        """End all processes and remove the namespaces."""
        for process in self.processes:
            kill(process)
        for name in self.names:
            subprocess.run(['ip', 'netns', 'del', self.namespace(name)], check=False)


def _ip(*words: str) -> None:
    subprocess.run(['ip', *words], check=True)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process with its children, without a word."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def three_hosts() -> Iterator[Hosts]:
    """Yield the hosts; nothing is left of them."""
    hosts = Hosts(('head', 'one', 'two'))
    try:
        hosts.create()
        yield hosts
    finally:
        hosts.remove()


class Events:
    """What happened when, with the rows that were there."""

    def __init__(self, store: Store) -> None:
        self.store, self.started = store, time.monotonic()
        self.lines: list[dict[str, object]] = []

    def note(self, event: str) -> None:
        """Print and keep an event."""
        seconds = time.monotonic() - self.started
        line = {'seconds': round(seconds, 1), 'rows': self.rows(), 'event': event}
        self.lines.append(line)
        print(f'{seconds:6.1f} s  {line["rows"]:5d} rows  {event}', flush=True)

    def rows(self) -> int:
        """Return the number of rows that are written."""
        return self.store.table().num_rows if self.store.is_campaign() else 0

    def wait(self, rows: int, client: subprocess.Popen[bytes]) -> None:
        """Wait for so many rows, or for the end of the client."""
        while client.poll() is None and self.rows() < rows:
            time.sleep(0.3)


def run(hosts: Hosts, grid: Path, out: Path, repetitions: int) -> Events:
    """Run the campaign with its losses."""
    address = f'tcp://{hosts.address("head")}:{PORT}'
    scheduler = ('distributed.cli.dask_scheduler', '--host', hosts.address('head'),
                 '--port', PORT, '--no-dashboard')  # fmt: skip
    worker = ('distributed.cli.dask_worker', address, '--nthreads', 1, '--no-nanny',
              '--no-dashboard')  # fmt: skip
    client = ('robot_id.cli.main', 'campaign', grid, '--out', out, '--scheduler', address)
    events = Events(Store(out))
    share = (repetitions * part // 10 for part in itertools.count(1, 2))

    hosts.start('head', *scheduler)
    first = hosts.start('one', *worker)
    running = hosts.start('two', *client)
    events.wait(next(share), running)
    hosts.start('two', *worker)
    events.note('a second worker joins, on host two')
    events.wait(next(share), running)
    kill(first)
    events.note('the worker on host one is killed')
    events.wait(next(share), running)
    hosts.start('one', *worker)
    events.note('a worker on host one comes back')
    events.wait(next(share), running)
    hosts.cable('two', 'down')
    events.note('the cable of host two is pulled: client and one worker are cut off')
    try:
        code: int | None = running.wait(CABLE_OUT_S)
    except subprocess.TimeoutExpired:
        kill(running)
        code = None
    events.note(f'the client ends with {code}')
    hosts.cable('two', 'up')
    events.note('the cable is back; the same command again')
    code = hosts.start('two', *client).wait()
    events.note(f'the client ends with {code}')
    return events


def main() -> int:
    """Run it and compare; 1 where a row differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--repetitions', type=int, default=200)
    parser.add_argument('--out', help='JSON of the events')
    chosen = parser.parse_args()
    if os.geteuid() != 0 or shutil.which('ip') is None:
        sys.exit('campaign_hosts: network namespaces need root and iproute2')
    with tempfile.TemporaryDirectory() as folder:
        grid = Path(folder, 'grid.yaml')
        content = {'robots': ['scara'], 'motions': [{'random': 4}], 'methods': ['idim_wls'],
                   'repetitions': chosen.repetitions}  # fmt: skip
        grid.write_text(yaml.safe_dump(content))
        with three_hosts() as hosts:
            events = run(hosts, grid, Path(folder, 'three'), chosen.repetitions)
        alone = run_campaign(grid, Path(folder, 'one'), workers=1)
        events.note('the same campaign on one host is done')
        tables = [store.table().drop_columns(list(TIMES)) for store in (events.store, alone)]
        same = tables[0].equals(tables[1]) and tables[0].num_rows == chosen.repetitions
        print('rows of three hosts and of one:', 'the same, bit for bit' if same else 'DIFFERENT')
    if chosen.out:
        Path(chosen.out).write_text(json.dumps({'events': events.lines, 'same': same}, indent=1))
    return 0 if same else 1


if __name__ == '__main__':
    sys.exit(main())
