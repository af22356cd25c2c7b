"""`make test`: what gets a second chance, and what is red."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = str(ROOT / 'tools/run_tests.py')
# Passes from the second run on.
FLAKY = """
import pathlib, pytest
def second_time():
    mark = pathlib.Path(__file__).with_suffix('.ran')
    was, _ = mark.exists(), mark.touch()
    return was
"""
SLOW = f'{FLAKY}@pytest.mark.real_processes\ndef test_slow():\n    assert second_time()\n'
WRONG = f'{FLAKY}def test_numbers():\n    assert second_time()\n'
FINE = 'def test_fine():\n    pass\n'


def run(folder, *arguments, within=60, **files):
    for name, text in files.items():
        (folder / f'test_{name}.py').write_text(text)
    # Plugins of a sourced ROS are left out, as in pyproject.toml: a new pytest refuses them.
    plugins = '-p no:launch_testing -p no:launch_ros -p no:launch_pytest'
    (folder / 'pytest.ini').write_text(
        f'[pytest]\naddopts = {plugins}\nmarkers =\n    real_processes: needs time\n'
    )
    environment = {
        **os.environ,
        'PYTEST_ADDOPTS': '',
        'PYTHONDONTWRITEBYTECODE': '1',
        'ROBOT_ID_TESTS_WITHIN_S': f'{within}',
    }
    done = subprocess.run(
        [sys.executable, TOOL, '-p', 'no:hypothesispytest', *arguments],
        cwd=folder, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout.strip().splitlines()


def test_a_test_on_real_processes_gets_a_second_chance_and_is_named(tmp_path):
    code, lines = run(tmp_path, '-n', '1', slow=SLOW, fine=FINE)
    assert code == 0
    assert lines[-1] == 'test: passed: at the second attempt: test_slow.py::test_slow'


def test_a_numerical_test_gets_none(tmp_path):
    code, lines = run(tmp_path, '-n', '0', slow=SLOW, wrong=WRONG)
    assert code == 1
    assert lines[-1] == 'test: failed: test_wrong.py::test_numbers'
    assert not any('once more' in line for line in lines)


@pytest.mark.parametrize(
    ('what', 'workers'),
    [
        ('os._exit(0)', '0'),
        ('os.kill(os.getpid(), signal.SIGKILL)', '1'),
        ('raise KeyboardInterrupt', '0'),
    ],
)
def test_an_aborted_run_is_red(tmp_path, what, workers):
    text = f'import os, pytest, signal\n@pytest.mark.real_processes\ndef test_it():\n    {what}\n'
    code, lines = run(tmp_path, '-n', workers, it=text, fine=FINE)
    assert code != 0
    assert lines[-1].startswith(('test: aborted', 'test: failed'))
    assert not any('once more' in line for line in lines)


def test_a_run_that_hangs_ends_and_names_what_had_failed(tmp_path):
    hangs = 'import time\ndef test_it():\n    time.sleep(600)\n'
    code, lines = run(tmp_path, '-n', '0', within=6, a='def test_a():\n    assert 0\n', it=hangs)
    assert code == 2
    assert lines[-1].endswith('failed until then: test_a.py::test_a')
    assert any(line.startswith('failed: test_a.py::test_a: ') for line in lines[:-1])


def test_neither_demo_nor_benchmarks_import_helpers_of_the_tests():
    for path in [ROOT / 'tools/demo.py', *(ROOT / 'bench').glob('*.py')]:
        text = path.read_text()
        assert 'ros_helpers' not in text, path
        assert "'test'" not in text, path
