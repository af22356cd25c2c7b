"""The rooms point one way (.importlinter holds it), and doc/architecture.md draws all of them."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'robot_id'
FOLDERS = ('robot_id', 'launch', 'bench', 'tools', 'test')
MOST_LINES, MOST_IN_A_FUNCTION = 500, 60
ROOMS = sorted(p.name for p in PACKAGE.iterdir() if (p / '__init__.py').is_file())


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, '-c', 'from importlinter.cli import lint_imports_command as c; c()',
         '--no-cache'],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.fixture(scope='module')
def house(tmp_path_factory):
    """Copy the package: a test may put a wrong line into it."""
    folder = tmp_path_factory.mktemp('house')
    shutil.copytree(PACKAGE, folder / 'robot_id', ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copy(ROOT / '.importlinter', folder)
    return folder


def test_the_house_as_it_is_keeps_every_contract(house):
    done = lint(house)
    assert done.returncode == 0, done.stdout
    assert '0 broken' in done.stdout


@pytest.mark.parametrize(
    ('file', 'line'),
    [
        ('robot/parameters/inertia.py', 'from robot_id.data.dataset import Dataset'),
        ('trajectory/fourier.py', 'import robot_id.dynamics.regressor'),
        ('control/gains.py', 'def lazy():\n    from robot_id.methods.result import Result'),
        ('regression/solvers/triangular.py', 'from robot_id import methods'),
        ('excitation/search.py', 'from robot_id.regression import triangular'),
        ('methods/result.py', 'from robot_id.cli.console import output'),
        ('cli/console.py', 'def lazy():\n    from robot_id.ros import qos'),
        ('tasks/validation.py', 'import rclpy'),
    ],
)
def test_a_line_against_the_order_is_found(house, file, line):
    path = house / 'robot_id' / file
    text = path.read_text()
    path.write_text(f'{text}\n{line}\n')
    try:
        done = lint(house)
    finally:
        path.write_text(text)
    assert done.returncode == 1, done.stdout
    assert 'BROKEN' in done.stdout


def test_every_room_is_drawn_listed_and_held():
    text = (ROOT / 'doc' / 'architecture.md').read_text()
    drawing = text.partition('```mermaid')[2].partition('```')[0]
    table = text.partition('| room |')[2].partition('\n\n')[0]
    contract = (ROOT / '.importlinter').read_text().partition('layers =\n')[2]
    for room in ROOMS:
        assert room in drawing, room
        assert f'`{room}`' in table, room
        assert re.search(rf'\b{room}\b', contract), room


@pytest.mark.parametrize('page', ['doc/architecture.md', 'CONTRIBUTING.md', 'README.md'])
def test_every_file_that_a_page_names_is_there(page):
    named = set(re.findall(r'`([\w/]+/\w+\.py)`', (ROOT / page).read_text()))
    files = [f'/{path}' for path, _ in sources()]
    for name in named:
        there = any(file.endswith(f'/{name}') for file in files) or (ROOT / name).is_file()
        assert there or name.endswith('/NAME.py'), name
    assert named or page == 'README.md'


def sources():
    """Return all files of Python with their text."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob('*.py')):
            yield path.relative_to(ROOT), path.read_text()


def test_no_file_is_longer_than_500_lines():
    long = {str(path): n for path, text in sources() if (n := text.count('\n')) > MOST_LINES}
    assert not long


def test_no_function_is_longer_than_60_lines_unless_it_says_why():
    long = []
    for path, text in sources():
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            # The body: options of a command are a list, however many.
            length = node.end_lineno - node.body[0].lineno + 1
            if (
                length > MOST_IN_A_FUNCTION
                and 'over 60 lines' not in (ast.get_docstring(node) or '').lower()
            ):
                long.append(f'{path}: {node.name} has {length} lines')
    assert not long
