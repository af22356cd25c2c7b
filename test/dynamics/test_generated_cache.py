"""Where generated code is kept: built once, private, whole or built anew."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from random_robots import random_states

from robot_id import dynamics
from robot_id.dynamics.generated import cache, compiler, library
from robot_id.robot import load_robot

pytestmark = pytest.mark.skipif(compiler.compiler() is None, reason='no C compiler')
N = library.ENOUGH_STATES


def test_few_states_compile_nothing(own_cache):
    robot = load_robot('scara')
    q, dq, ddq = random_states(np.random.default_rng(0), robot, N - 1)
    dynamics.regressor(robot, q, dq, ddq)
    assert not own_cache.exists()


def files(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob('*.so')}


def test_built_once_and_private(own_cache):
    robot = load_robot('scara')
    assert library.code_for(robot, 'regressor', 0.0)
    built = files(own_cache)
    assert len(built) == 1
    assert own_cache.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in own_cache.iterdir()} == {0o600}
    library.forget()
    assert library.code_for(robot, 'regressor', 0.0)
    assert set(files(own_cache)) == set(built)
    assert library.key_of(robot, 'regressor', False) != library.key_of(robot, 'regressor', True)
    other = load_robot('tx40')
    assert library.key_of(robot, 'bias', False) != library.key_of(other, 'bias', False)


def damage(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    'harm',
    [
        damage,
        lambda path: path.write_bytes(b''),
        lambda path: path.chmod(0o622),
        lambda path: path.unlink(),
        lambda path: path.rename(path.with_suffix('.old')) and path.symlink_to('elsewhere.so'),
        lambda path: path.with_name(path.name.rsplit('-', 1)[0] + '.json').write_text(
            '{"library"'
        ),
        lambda path: path.with_name(path.name.rsplit('-', 1)[0] + '.json').write_text(
            json.dumps({'library': '../x.so', 'sha256': ''})
        ),
    ],
    ids=['damaged', 'empty', 'open to others', 'gone', 'a link', 'torn', 'elsewhere'],
)
def test_what_is_not_whole_is_built_anew(harm, own_cache):
    robot = load_robot('emps')
    key = library.key_of(robot, 'bias', False)
    assert library.code_for(robot, 'bias', 0.0)
    library.forget()
    harm(next(own_cache.glob('*.so')))
    assert cache.find(key) is None
    assert library.code_for(robot, 'bias', 0.0)
    assert cache.find(key) is not None


def test_without_compiler_or_folder_one_line_says_so(own_cache, monkeypatch, caplog):
    robot = load_robot('scara')
    q, dq, ddq = random_states(np.random.default_rng(0), robot, N)
    expected = dynamics.regressor(robot, q, dq, ddq)
    library.forget()
    for path in own_cache.iterdir():
        path.unlink()
    monkeypatch.setattr(compiler, 'compiler', lambda: None)
    monkeypatch.setattr(library, 'compiler', lambda: None)
    for _ in range(3):
        W = dynamics.regressor(robot, q, dq, ddq)
        np.testing.assert_allclose(W, expected, rtol=0, atol=1e-12)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ['scara: generic kernels instead of generated code: there is no C compiler']
    own_cache.rmdir()
    own_cache.write_text('no folder')
    library.forget()
    assert library.code_for(robot, 'regressor', 0.0) is None


def test_code_that_takes_too_long_is_not_tried_again(own_cache, monkeypatch):
    robot = load_robot('tx40')
    original = library.compile_library
    calls = []

    def hasty(source, place):
        calls.append(place)
        original(source, place, longest_s=0.001)

    monkeypatch.setattr(library, 'compile_library', hasty)
    for _ in range(2):
        library.forget()
        assert library.code_for(robot, 'bias', 0.0) is None
    assert len(calls) == 1
    assert not list(own_cache.glob('building-*'))


START = """
import numpy as np
from robot_id.dynamics.generated.library import code_for
from robot_id.robot import load_robot
robot = load_robot('tx40')
print('ready', flush=True)
input()
assert code_for(robot, 'bias', 0.0) is not None
print('done', flush=True)
"""


def start(folder):
    process = subprocess.Popen(
        [sys.executable, '-c', START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, 'XDG_CACHE_HOME': str(folder)}, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == 'ready\n'
    return process


def test_two_processes_at_once_and_kill_during_compilation(tmp_path):
    home = tmp_path / 'robot_id'
    victim = start(tmp_path)
    victim.stdin.write('\n')
    victim.stdin.flush()
    end = time.monotonic() + 30.0
    while not list(home.glob('building-*')) and time.monotonic() < end:
        time.sleep(0.001)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    two = [start(tmp_path), start(tmp_path)]
    for process in two:
        process.stdin.write('\n')
        process.stdin.flush()
    assert [process.communicate(timeout=60)[0] for process in two] == ['done\n'] * 2
    entries = list(home.glob('*.json'))
    assert len(entries) == 1
    assert (home / json.loads(entries[0].read_text())['library']).exists()


def test_what_a_killed_process_left_is_cleared_away_later(own_cache):
    left = cache.folder() / 'building-abc'
    left.mkdir()
    (left / 'function.so').write_bytes(b'half')
    with cache.workplace():
        assert left.exists()
    os.utime(left, (0, 0))
    with cache.workplace():
        assert not left.exists()
