"""A state is released with one version, a dated change log and maintainers who get their mail."""

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from release import (
    INSTALLERS,
    PACKAGES,
    RESERVED,
    TEXTS,
    notes,
    obstacles,
    of_the_installers,
    version,
)

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 'a@robot-id.example'


@pytest.fixture
def released(tmp_path):
    """A copy of the files that could be tagged as it is, but for what a test spoils."""
    address = ElementTree.parse(ROOT / PACKAGES[0]).find('maintainer').get('email')
    for file in (*PACKAGES, *TEXTS, *INSTALLERS, 'setup.py', 'CHANGELOG.md'):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (ROOT / file).read_text().replace(address, 'jo@arms.dev').splitlines(keepends=True)
        path.write_text(''.join(line for line in lines if 'placeholder' not in line))
    log = tmp_path / 'CHANGELOG.md'
    log.write_text(f'# Changelog\n\n## {version(tmp_path)} (2027-01-31)\n\n- all of it\n')
    for script in (ROOT / 'tools').glob('*.py'):
        (tmp_path / 'tools').mkdir(exist_ok=True)
        (tmp_path / 'tools' / script.name).touch()
    for command in ('init -q', 'add .', '-c user.name=a -c user.email=a@arms.dev commit -qm all'):
        subprocess.run(['git', *command.split()], cwd=tmp_path, check=True)
    return tmp_path


def test_a_complete_state_can_be_tagged(released):
    assert list(obstacles(released)) == []


@pytest.mark.parametrize(
    ('file', 'old', 'new', 'told'),
    [
        ('package.xml', 'jo@arms.dev', NOBODY, f'package.xml: no mail reaches {NOBODY}'),
        ('robot_id_msgs/package.xml', 'jo@arms.dev', 'jo@example.com', 'no mail reaches'),
        ('setup.py', 'jo@arms.dev', 'al@arms.dev', 'setup.py: does not name jo@arms.dev'),
        ('setup.py', "version='", "version='9", 'setup.py: its version is not'),
        ('robot_id_msgs/package.xml', '<version>', '<version>9', 'robot_id_msgs/package.xml: v'),
        ('CHANGELOG.md', '(2027-01-31)', '(not yet released)', 'CHANGELOG.md: begins with'),
        ('pixi.toml', "version = '", "version = '9", 'pixi.toml: its version is not'),
        ('pixi.toml', 'ros-kilted-rclpy', 'ros-kilted-rclp', 'feature kilted lacks rclpy'),
        ('CITATION.cff', 'version: 0', 'version: 9', 'CITATION.cff: its version is not'),
        ('.pre-commit-config.yaml', 'entry: make lint', 'entry: make lints', 'make lints is no'),
        ('Dockerfile', '"make", "demo"', '"make", "show"', 'Dockerfile: make show is no target'),
        ('.github/workflows/ci.yml', 'check_wheel', 'no_wheel', 'tools/no_wheel.py does not'),
        ('rosdoc2.yaml', "'doc'", "'docs'", 'rosdoc2.yaml: docs/conf.py does not exist'),
        ('package.xml', 'rosdoc2.yaml', 'rosdoc.yaml', 'no rosdoc2 file'),
        ('SECURITY.md', '# Security', '# A placeholder', 'SECURITY.md:1: still calls'),
    ],
)
def test_what_is_missing_is_named_with_its_file(released, file, old, new, told):
    path = released / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    found = list(obstacles(released))
    assert any(told in line for line in found), found
    assert any('1 files are not committed' in line for line in found), found


def test_the_files_that_install_it_agree():
    assert list(of_the_installers()) == []


def test_installers_are_well_formed():
    for file in ('.github/workflows/ci.yml', '.pre-commit-config.yaml', 'CITATION.cff'):
        assert isinstance(yaml.safe_load((ROOT / file).read_text()), dict)
    assert len(list(yaml.safe_load_all((ROOT / 'rosdoc2.yaml').read_text()))) == 2
    matrix = yaml.safe_load((ROOT / '.github/workflows/ci.yml').read_text())['jobs']['wheels']
    versions = matrix['strategy']['matrix']['python']
    assert f'Python {versions[0]} to {versions[-1]}' in (ROOT / 'CONTRIBUTING.md').read_text()
    if sys.version_info >= (3, 11):
        import tomllib

        for file in ('pyproject.toml', 'pixi.toml'):
            assert tomllib.loads((ROOT / file).read_text())


def test_release_notes_are_those_of_the_version():
    text = notes()
    assert text.startswith(f'## {version()}')
    assert text.count('\n## ') == 0


def test_addresses_of_nobody():
    for address in ('a@b.example', 'a@example.org', 'a@localhost', 'a@x.test', 'a@y.invalid'):
        assert RESERVED.search(address), address
    for address in ('a@arms.dev', 'a@examples.org', 'a@latest.io', 'example@arms.dev'):
        assert not RESERVED.search(address), address


def test_without_git_it_is_told(released):
    shutil.rmtree(released / '.git')
    assert [line for line in obstacles(released) if not line.startswith('git: ')] == []
    assert any(line.startswith('git: ') for line in obstacles(released))
