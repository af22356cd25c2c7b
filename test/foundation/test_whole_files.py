"""Files are whole or as they were before: failing writes, kill -9, results of another shape."""

import contextlib
import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from errors import refused

from robot_id import budget, files
from robot_id.exceptions import DataError, RobotIdError, TimeLimitError
from robot_id.methods.result import Result

SAVES = """
import sys
import numpy as np
from robot_id.methods.result import Result
names = tuple(f'p{i}' for i in range(60))
print('ready', flush=True)
for k in range(100000):
    Result('r', 'm', names, np.full(60, float(k)), np.eye(60)).save(sys.argv[1])
"""


def result(b=3):
    return Result('r', 'm', tuple(f'p{i}' for i in range(b)), np.arange(1.0, b + 1), np.eye(b))


def half_a_write(path):
    with files.replacing(path) as draft:
        draft.write_text('half of')
        raise OSError('no space')


def endless(report=None):
    """Work that keeps every exception to itself, or that reports its progress."""
    while True:
        with contextlib.suppress(*([] if report else [Exception])):
            time.sleep(0.01)
            if report:
                report()


def test_failing_write_leaves_the_previous_file(tmp_path):
    path = tmp_path / 'r.json'
    path.write_text('before')
    with pytest.raises(OSError, match='no space'):
        half_a_write(path)
    assert path.read_text() == 'before'
    assert list(tmp_path.iterdir()) == [path]


def test_previous_file_is_kept_when_asked_for(tmp_path):
    path = tmp_path / 'r.json'
    for text in ('one', 'two'):
        files.write_text(path, text, keep_previous=True)
    assert path.read_text() == 'two'
    assert (tmp_path / 'r.json~').read_text() == 'one'


def test_kill_in_the_middle_of_saves_never_loses_the_file(tmp_path):
    path = tmp_path / 'r.json'
    draw = random.Random(0)
    result().save(path)
    for _ in range(2):
        with subprocess.Popen(
            [sys.executable, '-c', SAVES, str(path)], stdout=subprocess.PIPE
        ) as process:
            process.stdout.readline()
            time.sleep(draw.uniform(0.05, 0.3))
            process.send_signal(signal.SIGKILL)
        values = Result.load(path).values
        assert np.all(values == values[0])
        assert len(values) == 60


@pytest.mark.parametrize(
    'change',
    [
        {'covariance': [[1.0]]},
        {'covariance': [[1.0, 2.0, 3.0], [1.0], [1.0]]},
        {'parameters': ['a', 'b']},
        {'parameters': []},
        {'parameters': [{'name': 5, 'value': 1.0}]},
        {'parameters': [{'name': 'a', 'value': 10**400}]},
        {'parameters': [{'name': 'a', 'value': '1'}]},
        {'iterations': 10**400},
        {'iterations': -1.5},
        {'robot': ['x']},
        {'history': [{'parameters': [1.0]}]},
        {'warnings': [3]},
        {'options': [1]},
        {'condition_number': {}},
    ],
)
def test_results_of_another_shape_are_one_line(tmp_path, change):
    path = tmp_path / 'r.json'
    path.write_text(json.dumps(result().to_dict() | change))
    with pytest.raises(DataError) as caught:
        Result.load(path)
    assert '\n' not in str(caught.value)


def test_deeply_nested_json(tmp_path):
    path = tmp_path / 'r.json'
    path.write_text('[' * 100_000)
    with refused(DataError, code='not_json'):
        Result.load(path)


def test_messages_are_one_line_and_shorten_long_values():
    line = str(RobotIdError("a\nb: '" + 'x' * 100_000 + "' is no\tnumber \x1b[31m"))
    assert line.startswith('a b: ')
    assert len(line) < 300
    assert line.isprintable()


def test_time_limit_ends_any_work_in_one_line():
    with refused(TimeLimitError, code='time_limit'), budget.time_limit(0.2):
        endless()


def test_deadline_bounds_what_reports_its_progress():
    seen = []
    deadline = budget.Deadline(lambda fraction, text='': seen.append(fraction), 0.05)
    with refused(TimeLimitError, code='time_limit'):
        endless(lambda: deadline(0.5, 'step 7'))
    assert seen


@pytest.mark.parametrize(('text', 'size'), [('512M', 512 << 20), ('2gb', 2 << 30), ('3', 3 << 20)])
def test_sizes(text, size):
    assert budget.parse_memory(text) == size
