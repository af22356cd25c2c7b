"""What the package needs is declared once, and an absent extra is named."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from robot_id.extras import EXTRAS, missing_extra

ROOT = Path(__file__).resolve().parents[2]
# Distributions whose rosdep key is not python3-<name>; None: pinocchio brings it.
KEYS = {'pin': 'pinocchio', 'pyyaml': 'python3-yaml', 'coal': None}


def names(file: str) -> set[str]:
    lines = (ROOT / 'requirements' / file).read_text().splitlines()
    found = {re.split(r'[\[<>=; ]', line)[0].lower() for line in lines if line[:1].isalpha()}
    assert found
    return found


def test_package_xml_asks_for_what_setup_py_asks_for():
    package = ElementTree.parse(ROOT / 'package.xml')
    depends = {tag.text for tag in package.iter('exec_depend')}
    wanted = {KEYS.get(name, f'python3-{name}') for name in names('core.in') | names('plots.in')}
    python = {key for key in depends if key.startswith('python3-') or key == 'pinocchio'}
    assert python == wanted - {None}


def test_setup_py_declares_the_requirement_files():
    code = (
        'import setuptools, json\n'
        'setuptools.setup = lambda **k: print(json.dumps([k["install_requires"], '
        'k["extras_require"]]))\n'
        'exec(compile(open("setup.py").read(), "setup.py", "exec"), '
        '{"__file__": "setup.py", "__name__": "setup"})'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    import json

    core, extras = json.loads(done.stdout)
    assert {re.split(r'[\[<>=]', line)[0].lower() for line in core} == names('core.in')
    assert {'bags', 'plots', 'physical', 'campaign', 'test'} == set(extras)
    assert set(EXTRAS.values()) <= set(extras)
    for module, extra in EXTRAS.items():
        assert any(line.startswith(module) for line in extras[extra]), module


@pytest.mark.parametrize('module', EXTRAS)
def test_an_absent_extra_is_named(module):
    error = missing_extra(ModuleNotFoundError('x', name=f'{module}.part'))
    assert f"pip install 'robot_id[{EXTRAS[module]}]'" in str(error)


def test_other_failed_imports_stay_what_they_are():
    assert missing_extra(ModuleNotFoundError('x', name='nothing_of_ours')) is None


def test_the_command_line_says_it_in_one_line(tmp_path):
    (tmp_path / 'matplotlib').mkdir()
    (tmp_path / 'matplotlib' / '__init__.py').write_text(
        'raise ModuleNotFoundError("none", name="matplotlib")'
    )
    code = (
        f'import sys; sys.path.insert(0, {str(tmp_path)!r}); from robot_id.cli.main import main; '
        "sys.argv[0] = 'robot-id'; main()"
    )
    arguments = 'excite --robot emps --seconds 2 --evaluations 3 --out m.csv --plot m.png'
    done = subprocess.run(
        [sys.executable, '-c', code, *arguments.split()],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip().splitlines()[-1] == (
        "robot-id: this needs matplotlib: pip install 'robot_id[plots]'"
    )
