"""
Run a command on a ROS 2 domain of its own, and leave nothing of it behind.

Usage: python tools/isolated.py COMMAND [ARGUMENT ...]

Two runs on one machine get different domains and discover on the loopback only, so they never
meet. Processes that the command leaves behind are ended, and so is the shared memory of those
that were killed. The exit code is the command's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SHARED_MEMORY = Path('/dev/shm')
# One port of the loopback stands for each domain; who holds it owns the domain.
FIRST_PORT = 21900
DOMAINS = range(1, 101)
PR_SET_CHILD_SUBREAPER = 36


@contextlib.contextmanager
def private_domain() -> Iterator[int]:
    """Own a ROS_DOMAIN_ID that no other run on this machine has, for the time of the context."""
    start = os.getpid()
    for offset in DOMAINS:
        domain = DOMAINS[(start + offset) % len(DOMAINS)]
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as mark:
            try:
                mark.bind(('127.0.0.1', FIRST_PORT + domain))
            except OSError:
                continue
            yield domain
            return
    raise SystemExit('isolated: all 100 domains of this machine are in use, try again later')


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    """Return the processes whose parent is this one."""
    tasks = Path(f'/proc/{os.getpid()}/task')
    return [int(pid) for file in tasks.glob('*/children') for pid in file.read_text().split()]


def end_children(patience: float = 5.0) -> int:
    """End what is left: SIGINT first, SIGKILL for those that do not listen; return how many."""
    ended = set()
    deadline = time.monotonic() + patience
    while alive := _reap(children()):
        late = time.monotonic() > deadline
        for pid in alive:
            if late or pid not in ended:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGINT)
                ended.add(pid)
        time.sleep(0.05)
    return len(ended)


def _reap(pids: list[int]) -> list[int]:
    alive = []
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                alive.append(pid)
    return alive


def sweep_shared_memory(since: float) -> None:
    """Remove the Fast DDS files that are younger than `since` and that no process maps."""
    files = [path for path in SHARED_MEMORY.glob('*fastrtps_*') if _born(path) >= since]
    if not files:
        return
    mapped = set()
    for maps in Path('/proc').glob('[0-9]*/maps'):
        with contextlib.suppress(OSError):
            lines = maps.read_text().splitlines()
            mapped.update(line.split(maxsplit=5)[-1] for line in lines if '/fastrtps_' in line)
    # A segment lives as long as one of its files: fastrtps_x, fastrtps_x_el, sem.fastrtps_x_mutex.
    for path in files:
        stem = path.name.removeprefix('sem.').removesuffix('_mutex').removesuffix('_el')
        if not any(stem in name for name in mapped):
            with contextlib.suppress(OSError):
                path.unlink()


def _born(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def main() -> None:
    """Run the command line that follows."""
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    adopt_orphans()
    since = time.time() - 1.0
    with private_domain() as domain:
        environment = {
            **os.environ,
            'ROS_DOMAIN_ID': str(domain),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        }
        environment.pop('ROS_LOCALHOST_ONLY', None)
        environment.pop('ROS_STATIC_PEERS', None)
        process = subprocess.Popen(sys.argv[1:], env=environment)
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, lambda number, _: process.send_signal(number))
        code = process.wait()
        left = end_children()
        sweep_shared_memory(since)
    if left:
        print(f'isolated: ended {left} process(es) that were left behind', file=sys.stderr)
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == '__main__':
    main()
