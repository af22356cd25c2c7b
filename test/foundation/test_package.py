"""What the package needs is declared once, and an absent extra is named."""

import ast
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from robot_id.extras import EXTRAS, PACKAGES, missing_extra

ROOT = Path(__file__).resolve().parents[2]
# Distributions whose rosdep key is not python3-<name>; None: pinocchio brings it, or rosdep knows
# none and the package works without, slower.
KEYS = {'pin': 'pinocchio', 'pyyaml': 'python3-yaml', 'coal': None, 'threadpoolctl': None}

# Modules that are not named as their distribution; numba brings llvmlite, Python 3.14 compression.
OTHER_NAMES = 'pinocchio', 'yaml', 'llvmlite', 'compression'


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


def test_every_import_is_declared_and_every_declaration_is_used():
    """A package of ROS that nodes and launch files import is an exec_depend, and vice versa."""
    imported = set()
    for file in (*(ROOT / 'robot_id').rglob('*.py'), *(ROOT / 'launch').glob('*.py')):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.partition('.')[0])
    files = ('core', 'plots', 'physical', 'campaign', 'bags', 'develop')
    python = set().union(*(names(f'{file}.in') for file in files)) | {*EXTRAS, *OTHER_NAMES}
    ros = {name for name in imported - sys.stdlib_module_names if name.lower() not in python}
    depends = {tag.text for tag in ElementTree.parse(ROOT / 'package.xml').iter('exec_depend')}
    declared = {key for key in depends if not key.startswith('python3-') and key != 'pinocchio'}
    # A node of another package that a launch file starts is not imported.
    started = {'robot_state_publisher'}
    launch = ''.join(path.read_text() for path in (ROOT / 'robot_id/ros').glob('launch*.py'))
    assert all(f"'{name}'" in launch for name in started)
    assert ros - {'robot_id'} == declared - started


def test_the_messages_declare_what_their_cmake_file_needs():
    package = ElementTree.parse(ROOT / 'robot_id_msgs/package.xml').getroot()
    tags = {'buildtool_depend', 'depend'}
    declared = {tag.text for tag in package if tag.tag in tags}
    text = (ROOT / 'robot_id_msgs/CMakeLists.txt').read_text()
    needed = set(re.findall(r'find_package\((\w+)', text))
    # Every action carries it without being asked.
    assert declared == needed | {'action_msgs'}


def test_version_and_maintainer_are_the_same_everywhere():
    setup = setup_arguments('version', 'maintainer', 'maintainer_email', 'license')
    for file in ('package.xml', 'robot_id_msgs/package.xml'):
        package = ElementTree.parse(ROOT / file).getroot()
        maintainer = package.find('maintainer')
        assert setup == [
            package.findtext('version'),
            maintainer.text,
            maintainer.get('email'),
            package.findtext('license'),
        ]


def test_an_address_that_nobody_reads_is_called_a_placeholder():
    (address,) = setup_arguments('maintainer_email')
    # RFC 2606: names below .example exist for nobody.
    reserved = address.endswith('.example')
    for file in ('SECURITY.md', 'QUALITY_DECLARATION.md', 'CONTRIBUTING.md', 'package.xml'):
        assert ('placeholder' in (ROOT / file).read_text()) == reserved, file


def setup_arguments(*wanted: str) -> list:
    """Return arguments that setup.py gives to setuptools."""
    code = (
        'import setuptools, json\n'
        f'setuptools.setup = lambda **k: print(json.dumps([k[name] for name in {wanted!r}]))\n'
        'exec(compile(open("setup.py").read(), "setup.py", "exec"), '
        '{"__file__": "setup.py", "__name__": "setup"})'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_setup_py_declares_the_requirement_files():
    core, extras = setup_arguments('install_requires', 'extras_require')
    assert {re.split(r'[\[<>=]', line)[0].lower() for line in core} == names('core.in')
    assert {'bags', 'plots', 'physical', 'frames', 'xacro', 'campaign', 'studio', 'test'} == set(
        extras
    )
    assert set(EXTRAS.values()) <= set(extras)
    for module, extra in EXTRAS.items():
        assert any(line.startswith(module) for line in extras[extra]), module


@pytest.mark.parametrize('module', EXTRAS)
def test_an_absent_extra_is_named(module):
    error = missing_extra(ModuleNotFoundError('x', name=f'{module}.part'))
    # Names of packages, which pip finds wherever robot_id itself came from.
    packages = PACKAGES[EXTRAS[module]]
    assert str(error).endswith(f'pip install {" ".join(packages)}')
    assert {re.sub('[-_.]+', '-', name) for name in packages} <= {
        re.sub('[-_.]+', '-', name) for name in names(f'{EXTRAS[module]}.in')
    }


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
        'robot-id: this needs matplotlib: python -m pip install matplotlib'
    )
