"""`make test` and `make demo` keep to themselves and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ISOLATED = [sys.executable, str(ROOT / 'tools/isolated.py')]


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ISOLATED, sys.executable, '-c', code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_command_gets_a_domain_and_the_loopback_and_keeps_its_exit_code():
    done = run(
        'import os; e = os.environ\n'
        'print(e["ROS_DOMAIN_ID"], e["ROS_AUTOMATIC_DISCOVERY_RANGE"]); raise SystemExit(7)'
    )
    domain, reach = done.stdout.split()
    assert 1 <= int(domain) <= 100
    assert reach == 'LOCALHOST'
    assert (done.returncode, done.stderr) == (7, '')


def test_runs_at_the_same_time_have_different_domains():
    code = 'import os, time; print(os.environ["ROS_DOMAIN_ID"], flush=True); time.sleep(60)'
    runs = [
        subprocess.Popen(
            [*ISOLATED, sys.executable, '-c', code], stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    domains = [process.stdout.readline() for process in runs]
    for process in runs:
        process.terminate()
    codes = [process.wait(20) for process in runs]
    assert len(set(domains)) == 4
    assert codes == [128 + signal.SIGTERM] * 4


def test_processes_left_behind_are_ended_even_in_their_own_session():
    code = (
        'import subprocess, sys\n'
        'sleeper = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); '
        'time.sleep(300)"\n'
        'for command in (["sleep", "300"], [sys.executable, "-c", sleeper]):\n'
        '    print(subprocess.Popen(command, start_new_session=True, stdout=-3, stderr=-3).pid)\n'
    )
    done = run(code)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    assert not any(map(is_running, pids))
    assert 'ended 2 process(es)' in done.stderr
    assert done.returncode == 0


@pytest.mark.ros
def test_shared_memory_of_a_killed_node_is_removed():
    code = (
        'import os, signal, rclpy\n'
        'rclpy.init(); node = rclpy.create_node("victim")\n'
        'print(os.getpid(), flush=True)\n'
        'lines = [line for line in open("/proc/self/maps") if "/dev/shm/fastrtps_" in line]\n'
        'names = {line.split()[-1] for line in lines}\n'
        'print(*names, flush=True)\n'
        'os.kill(os.getpid(), signal.SIGKILL)\n'
    )
    before = {str(path) for path in Path('/dev/shm').glob('fastrtps_*')}
    done = run(code)
    assert done.returncode == 128 + signal.SIGKILL
    # Ports are shared by all of a host: what was there before is not ours to remove.
    names = set(done.stdout.splitlines()[1].split()) - before
    assert names, 'the node mapped no shared memory of its own'
    deadline = time.monotonic() + 5
    while any(map(os.path.exists, names)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [name for name in names if os.path.exists(name) and not in_use(name)]


def in_use(name):
    """Tell whether another process still maps a file."""
    for maps in Path('/proc').glob('[0-9]*/maps'):
        try:
            if name in maps.read_text():
                return True
        except OSError:
            continue
    return False


def test_nothing_left_to_sweep_of_others(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / 'tools'))
    import isolated

    monkeypatch.setattr(isolated, 'SHARED_MEMORY', tmp_path)
    old, new, other = (tmp_path / name for name in ('fastrtps_old', 'fastrtps_new', 'something'))
    for path in (old, new, other):
        path.touch()
    os.utime(old, (0, 0))
    isolated.sweep_shared_memory(time.time() - 60)
    assert old.exists()
    assert other.exists()
    assert not new.exists()
