"""Machine code on the disk: compiled again when a source has changed, is damaged or not there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INNER = """
from robot_id.kernel_cache import njit
FACTOR = {factor}
@njit(cache=True)
def inner(x):
    return FACTOR * x
"""
OUTER = """
from robot_id.kernel_cache import njit
from robot_id_probe_inner import inner
@njit(cache=True)
def outer(x):
    return inner(x) + 1.0
"""
RUN = """
import sys
from robot_id import kernel_cache
from robot_id_probe_outer import outer
print(outer(1.0), kernel_cache.kinds_on_disk(outer), sum(outer.stats.cache_hits.values()))
"""


class Probe:
    """A compiled function whose file uses one of another file, in processes of their own."""

    def __init__(self, folder, **environment):
        self.folder, self.environment = folder, environment
        self.change(2.0)
        (folder / 'robot_id_probe_outer.py').write_text(OUTER)

    def change(self, factor):
        (self.folder / 'robot_id_probe_inner.py').write_text(INNER.format(factor=factor))

    def run(self, limit='true'):
        path = os.pathsep.join([str(self.folder), str(ROOT)])
        done = subprocess.run(
            ['sh', '-c', f'{limit}; exec "$0" -c "$1"', sys.executable, RUN],
            env={**os.environ, 'PYTHONPATH': path, 'PYTHONDONTWRITEBYTECODE': '1',
                 **self.environment},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        value, kinds, hits = done.stdout.split()
        return float(value), int(kinds), int(hits), done.stderr.splitlines()

    def files(self, ending):
        return list(self.folder.rglob(f'robot_id_probe_outer*{ending}'))


@pytest.fixture
def probe(tmp_path):
    return Probe(tmp_path, XDG_CACHE_HOME=str(tmp_path / 'cache'), NUMBA_CACHE_DIR='')


def test_loaded_until_the_file_of_a_called_function_changes(probe):
    assert probe.run() == (3.0, 1, 0, [])
    assert probe.run() == (3.0, 1, 1, [])
    probe.change(5.0)
    assert probe.run() == (6.0, 1, 0, [])
    assert probe.run() == (6.0, 1, 1, [])
    # The code of the older source is gone.
    assert len(probe.files('.code')) == 1


@pytest.mark.parametrize('ending', ['.code', '.index'])
@pytest.mark.parametrize('harm', ['cut', 'empty', 'flipped', 'gone'])
def test_what_is_damaged_is_compiled_again(probe, ending, harm):
    probe.run()
    (file,) = probe.files(ending)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    if harm == 'gone':
        file.unlink()
    else:
        file.write_bytes({'cut': content[:-9], 'empty': b'', 'flipped': content}[harm])
    assert probe.run() == (3.0, 1, 0, [])
    assert probe.run() == (3.0, 1, 1, [])


def test_a_shared_folder_keeps_what_others_have_in_it(tmp_path):
    shared = tmp_path / 'shared'
    foreign = shared / 'their_package/kernel-1.py311.nbi'
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b'theirs')
    probe = Probe(tmp_path, NUMBA_CACHE_DIR=str(shared))
    for factor in (2.0, 3.0):
        probe.change(factor)
        probe.run()
    code = 'from robot_id import control, dynamics; print(dynamics.cold_kernels())'
    subprocess.run(
        [sys.executable, '-c', code], env={**os.environ, 'NUMBA_CACHE_DIR': str(shared)},
        check=True, capture_output=True,
    )  # fmt: skip
    assert foreign.read_bytes() == b'theirs'
    assert probe.run() == (4.0, 1, 1, [])


def test_a_limit_on_the_size_of_files_is_one_line(probe):
    value, _, _, lines = probe.run('ulimit -f 0')
    assert value == 3.0
    assert len(lines) == 1
    assert 'compiled code is not kept' in lines[0]


def test_the_stamp_names_the_files_of_all_friction_terms():
    from robot_id.dynamics.kernels.regressor import regressor_kernel
    from robot_id.kernel_cache import _collect

    parts: set[str] = set()
    _collect(regressor_kernel.py_func, parts, set())
    named = {part.split()[0] for part in parts if ' = ' not in part}
    assert {'regressor.py', 'rigid_body.py', 'friction.py', 'functions.py'} <= named
    assert {'coulomb.py', 'viscous.py', 'stribeck.py'} <= named
