"""A state is released with one version, a dated change log and maintainers who get their mail."""

import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from release import PACKAGES, RESERVED, TEXTS, obstacles, version

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 'a@robot-id.example'


@pytest.fixture
def released(tmp_path):
    """A copy of the files that could be tagged as it is, but for what a test spoils."""
    address = ElementTree.parse(ROOT / PACKAGES[0]).find('maintainer').get('email')
    for file in (*PACKAGES, *TEXTS, 'setup.py', 'CHANGELOG.md'):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        lines = (ROOT / file).read_text().replace(address, 'jo@arms.dev').splitlines(keepends=True)
        path.write_text(''.join(line for line in lines if 'placeholder' not in line))
    log = tmp_path / 'CHANGELOG.md'
    log.write_text(f'# Changelog\n\n## {version(tmp_path)} (2027-01-31)\n\n- all of it\n')
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


def test_addresses_of_nobody():
    for address in ('a@b.example', 'a@example.org', 'a@localhost', 'a@x.test', 'a@y.invalid'):
        assert RESERVED.search(address), address
    for address in ('a@arms.dev', 'a@examples.org', 'a@latest.io', 'example@arms.dev'):
        assert not RESERVED.search(address), address


def test_without_git_it_is_told(released):
    shutil.rmtree(released / '.git')
    assert [line for line in obstacles(released) if not line.startswith('git: ')] == []
    assert any(line.startswith('git: ') for line in obstacles(released))
