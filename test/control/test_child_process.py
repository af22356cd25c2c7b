"""A child process that answers, fails, hangs and dies."""

import os
import signal

import pytest

from robot_id.control.child_process import ChildEnded, ChildProcess, ChildTimeout
from robot_id.exceptions import ControlError, DataError

CHILD = """
import time
from robot_id.control.child_process import serve
from robot_id.exceptions import DataError

def begin(factor):
    def answer(request):
        if request == 'hang':
            time.sleep(600.0)
        if request == 'wrong':
            raise DataError('a mistake')
        return factor * request
    return answer

serve(begin)
"""


@pytest.fixture
def child(tmp_path, monkeypatch):
    (tmp_path / 'a_child.py').write_text(CHILD)
    paths = [str(tmp_path), os.environ.get('PYTHONPATH', '')]
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, paths)))
    process = ChildProcess('a_child', 3)
    yield process
    process.close()


def test_it_answers_and_says_what_is_wrong(child):
    assert [child.ask(k) for k in range(3)] == [0, 3, 6]
    with pytest.raises(DataError, match='a mistake'):
        child.ask('wrong')
    with pytest.raises(ControlError, match='TypeError'):
        child.ask(None)
    # Larger than the buffer of a pipe.
    assert child.ask(b'0' * 10**6) == b'0' * 3 * 10**6


def test_one_that_hangs_is_killed_and_replaced(child):
    child.ask(1)
    before = child.pid
    with pytest.raises(ChildTimeout):
        child.ask('hang', 0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert child.ask(2) == 6


def test_one_that_dies_is_replaced(child):
    child.ask(1)
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ChildEnded):
        child.ask(1)
    assert child.ask(2) == 6
