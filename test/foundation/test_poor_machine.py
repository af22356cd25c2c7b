"""A fresh or poor machine: no home, a full or read-only disk, small files; the work goes on."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from robot_id.dynamics.generated import compiler

ROOT = Path(__file__).resolve().parents[2]
LINE = 'compiled code is not kept'
# 500 states need generated code, two kernels come from the disk or are compiled.
WORK = """
import numpy as np
from robot_id import dynamics
from robot_id.robot import load_robot
robot = load_robot('emps')
x = np.linspace(-1.0, 1.0, 600)[:, None]
print(float(np.sum(dynamics.regressor(robot, x, 2 * x, 3 * x) ** 2)))
"""
FULL = 'mount -t tmpfs -o size=16k tmpfs "{0}" && head -c 16384 /dev/zero > "{0}/fill"'
READ_ONLY = 'mount --bind "{0}" "{0}" && mount -o remount,ro,bind "{0}"'


def run(before='true', **environment):
    """Return the figure that a process of its own computed, and what it said."""
    command = ['sh', '-c', f'{before} || exit 77; exec "$0" -c "$1"', sys.executable, WORK]
    if 'mount' in before:
        if os.geteuid() != 0 or shutil.which('unshare') is None:
            pytest.skip('only root may mount')
        command = ['unshare', '-m', *command]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip(f'this machine cannot do it: {done.stderr.strip()}')
    assert done.returncode == 0, done.stderr
    return float(done.stdout), [line for line in done.stderr.splitlines() if line]


@pytest.fixture(scope='module')
def expected():
    from robot_id import dynamics
    from robot_id.robot import load_robot

    x = np.linspace(-1.0, 1.0, 600)[:, None]
    return float(np.sum(dynamics.regressor(load_robot('emps'), x, 2 * x, 3 * x) ** 2))


@pytest.mark.skipif(compiler.compiler() is None, reason='no C compiler')
@pytest.mark.parametrize(
    ('before', 'reason'),
    [('true', 'Not a directory'), (FULL, 'No space left'), (READ_ONLY, 'Read-only')],
    ids=['no home', 'full disk', 'read-only home'],
)
def test_without_a_place_for_compiled_code_the_work_goes_on(tmp_path, expected, before, reason):
    folder = '/dev/null/home' if before == 'true' else str(tmp_path)
    found, lines = run(before.format(tmp_path), HOME=folder, XDG_CACHE_HOME=folder)
    # The same code, so the same digits as with a cache.
    assert found == expected
    (line,) = lines
    assert LINE in line
    assert reason in line


@pytest.mark.skipif(compiler.compiler() is None, reason='no C compiler')
@pytest.mark.parametrize('warm', [False, True])
def test_a_small_limit_on_files_ends_nothing(tmp_path, expected, warm):
    environment = {'HOME': str(tmp_path), 'XDG_CACHE_HOME': str(tmp_path)}
    if warm:
        assert run(**environment) == (expected, [])
    found, lines = run('ulimit -f 4', **environment)
    assert found == pytest.approx(expected, rel=1e-10)
    (line,) = lines
    assert 'generic kernels instead of generated code' in line
    # Nothing is remembered of it: without the limit all is as ever.
    assert run(**environment) == (expected, [])


def test_kernels_and_code_that_nobody_has_compiled(tmp_path, expected):
    kernels = {'NUMBA_CACHE_DIR': str(tmp_path / 'kernels')}
    home = {'HOME': str(tmp_path), 'XDG_CACHE_HOME': str(tmp_path / 'cache')}
    assert run(**kernels, **home) == (expected, [])
    assert run(**kernels, **home) == (expected, [])
    (tmp_path / 'full').mkdir()
    full = str(tmp_path / 'full')
    found, lines = run(FULL.format(full), NUMBA_CACHE_DIR=full, XDG_CACHE_HOME=full)
    assert found == expected
    (line,) = lines
    assert LINE in line
