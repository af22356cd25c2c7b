"""No error of a service quotes a flag of the command line."""

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')

from robot_id.ros.refusal import COMMAND, as_request

PACKAGE = Path(__file__).resolve().parents[2] / 'robot_id'
FLAG = re.compile(r'(?<![\w-])--[a-z]')
# What the nodes run; terminal, exports and tables of papers are not reached by a request.
ROOMS = ('robot', 'data', 'trajectory', 'dynamics', 'regression', 'control', 'methods', 'tasks')
# Files of commands that no service runs, and arguments of a program.
NOT_SERVED = {'drive_gains.py', 'gain_result.py', 'child_process.py', 'process.py', 'renamed.py'}


def texts():
    files = [*PACKAGE.glob('*.py'), *(p for room in ROOMS for p in (PACKAGE / room).rglob('*.py'))]
    for path in sorted(files):
        tree = ast.parse(path.read_text())
        documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
        docs = {id(n.body[0].value) for n in ast.walk(tree) if isinstance(n, documented)
                and n.body and isinstance(n.body[0], ast.Expr)}  # fmt: skip
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if id(node) not in docs and path.name not in NOT_SERVED and FLAG.search(node.value):
                yield node.value


def test_flags_become_fields_of_the_request():
    found = list(texts())
    assert found
    for text in found:
        told = as_request(text)
        assert COMMAND.search(text) or not FLAG.search(told), (text, told)


def test_the_sentence_stays_whole():
    told = as_request('of joint a; correct it first, or skip the check')
    assert told == 'of joint a; correct it first'
    told = as_request(
        'cannot be read (EOF); collisions are not checked (--no-clearance, margin=0)'
    )
    assert told == 'cannot be read (EOF); collisions are not checked'
    assert as_request('too slow; raise --time-limit') == (
        'too slow; raise the parameter time_limit_s'
    )
    plain = 'Friction of joint a is negative -- check torque_sign.'
    assert as_request(plain) == plain
