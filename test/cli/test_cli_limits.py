"""The terminal when things are full, foreign or in the way."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from errors import refused

from robot_id import budget
from robot_id.cli.main import cli
from robot_id.data import Dataset, Run
from robot_id.exceptions import RobotIdError, TimeLimitError
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from robot_id.tasks import record
from robot_id.tasks.identify import Request, identify
from robot_id.trajectory.default import motion_of

COMMAND = [sys.executable, '-m', 'robot_id.cli.main']


def run(*words, **more):
    return subprocess.run(
        [*COMMAND, *map(str, words)], stderr=subprocess.PIPE, text=True, timeout=120, **more
    )


@pytest.fixture
def saved(tmp_path):
    robot = load_robot('emps')
    b = len(robot.base.names)
    path = tmp_path / 'r.json'
    Result('emps', 'idim_wls', robot.base.names, np.ones(b), np.eye(b)).save(path)
    return path


@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='no /dev/full on this machine')
def test_output_to_a_full_device_is_one_line():
    with open('/dev/full', 'w') as full:
        done = run('robots', stdout=full)
    assert done.returncode == 2
    assert 'Traceback' not in done.stderr
    assert 'Exception' not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_terminal_that_knows_ascii_only(saved):
    environment = {**os.environ, 'LC_ALL': 'C', 'PYTHONIOENCODING': 'ascii'}
    for words in (('robots', 'emps'), ('compare', saved, saved)):
        done = run(*words, stdout=subprocess.PIPE, env=environment)
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()
        assert done.stdout


def test_a_reader_that_goes_away_is_no_error():
    words = ' '.join([*COMMAND, 'methods', '|', 'head', '-1'])
    done = subprocess.run(words, shell=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.count('\n') == 1
    assert done.stderr == ''


def test_closed_streams_are_no_error(saved, tmp_path):
    out = tmp_path / 'both.json'
    words = f'{" ".join(COMMAND)} compare {saved} {saved} --json {out} <&- >&- '
    done = subprocess.run(words, shell=True, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, '')
    assert json.loads(out.read_text())


@pytest.mark.skipif(not os.path.exists('/proc/self/maps'), reason='needs /proc')
def test_ctrl_c_at_any_time_leaves_no_traceback():
    ends = set()
    for seconds in (0.0, 0.5, 3.0):
        process = subprocess.Popen(
            [*COMMAND, 'excite', '--robot', 'scara', '--budget', '60'],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        # From when the verb loads its libraries; before that it is the interpreter's own affair.
        libraries = Path(f'/proc/{process.pid}/maps')
        while process.poll() is None and '_multiarray_umath' not in libraries.read_text():
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=120)[1]
        assert 'Traceback' not in said
        # A search that has begun ends with the best motion so far.
        if 'the search was stopped' not in said:
            ends.add(process.returncode)
    assert ends <= {130, -signal.SIGINT}


@pytest.mark.parametrize('method', ['didim', 'idim_iv'])
@pytest.mark.parametrize('mistake', ['sign', 'milliseconds'])
def test_a_recording_with_a_plain_mistake_is_answered_soon(method, mistake):
    robot = load_robot('emps')
    run = record(robot, motion_of(robot, 'random', 4.0, 1), seed=1).runs[0]
    sign, unit = (-1.0, 1.0) if mistake == 'sign' else (1.0, 1e3)
    wrong = Run(unit * run.time, run.position, sign * run.torque)
    with budget.time_limit(60.0):
        found = identify(Request(robot, Dataset(robot.joint_names, (wrong,)), method)).result
    assert found.verdict == 'do_not_use'
    word = 'friction drives it' if mistake == 'sign' else 'time_unit'
    assert any(word in reason for reason in found.reasons), found.reasons


def test_a_callback_of_c_code_keeps_no_time_limit_from_ringing(capfd):
    """The compiler calls back into Python, where an exception is printed and dropped."""

    def slow(one: int, other: int) -> int:
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            pass
        return 0

    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(slow)
    numbers = (ctypes.c_int * 2)()
    with refused(TimeLimitError, code='time_limit'), budget.time_limit(0.1):
        ctypes.CDLL(None).qsort(numbers, 2, ctypes.sizeof(ctypes.c_int), compare)
        while True:
            time.sleep(0.01)
    assert capfd.readouterr().err == ''


def test_existing_file_is_kept_beside_the_new_one(saved, tmp_path):
    out = tmp_path / 'p.yaml'
    out.write_text('mine')
    done = run('export', saved, '--out', out, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert 'p.yaml~' in done.stderr
    assert (tmp_path / 'p.yaml~').read_text() == 'mine'
    assert 'emps' in out.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ['p.yaml', 'p.yaml~', 'r.json']


def test_time_limit_is_one_line(tmp_path):
    done = run(
        'excite', '--robot', 'scara', '--budget', 60, '--time-limit', 3,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode == 2
    assert 'time limit of 3 s' in done.stderr
    assert 'Traceback' not in done.stderr


@pytest.mark.parametrize(
    'words',
    [
        ('--seed', -1), ('--seconds', 'inf'), ('--seconds', 1e9), ('--seconds', 0),
        ('--seconds', 'nan'), ('--cycles', 100_000_000), ('--cycles', 10**400),
        ('--every', 10**30), ('--memory', 'lots'),
    ],
)  # fmt: skip
def test_simulate_refuses_impossible_numbers(tmp_path, words):
    command = ['simulate', '--robot', 'scara', '--out', str(tmp_path / 'x'), *map(str, words)]
    with pytest.raises(RobotIdError):
        cli(command, standalone_mode=False)
    assert not (tmp_path / 'x').exists()


def test_excite_refuses_an_impossible_margin():
    with pytest.raises(RobotIdError, match='--margin'):
        cli(['excite', '--robot', 'scara', '--margin', '1e308'], standalone_mode=False)
