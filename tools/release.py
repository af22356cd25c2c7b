"""
Say what keeps this state from being released, a line each; nothing printed but the version: go.

Usage: python3 tools/release.py [--notes]
Looks at the files that a distribution takes: both package.xml, setup.py, CHANGELOG.md, the files
that install and check it (pixi, Docker, rosdoc2, workflow, pre-commit, citation), the texts that
name the maintainers, and git. It changes nothing. --notes prints the release notes: the part of
CHANGELOG.md that belongs to the version.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = 'package.xml', 'robot_id_msgs/package.xml'
TEXTS = 'CONTRIBUTING.md', 'SECURITY.md', 'QUALITY_DECLARATION.md'
# They call the Makefile.
CALLERS = 'pixi.toml', 'Dockerfile', '.github/workflows/ci.yml', '.pre-commit-config.yaml'
INSTALLERS = *CALLERS, 'CITATION.cff', 'rosdoc2.yaml', 'Makefile', 'doc/conf.py'
# RFC 2606 and RFC 6761: names that belong to nobody, so that no mail arrives.
RESERVED = re.compile(r'(^|[@.])(example|example\.(com|net|org)|test|invalid|localhost)$')


def version(root: Path = ROOT) -> str:
    """Return the version that package.xml states."""
    return str(ElementTree.parse(root / PACKAGES[0]).getroot().findtext('version'))


def obstacles(root: Path = ROOT) -> Iterator[str]:
    """Yield what is missing, each with its file and what to do."""
    yield from _of_the_packages(root)
    yield from _of_the_texts(root)
    yield from of_the_installers(root)
    yield from _of_git(root)


def _of_the_packages(root: Path) -> Iterator[str]:
    wanted = version(root)
    if not re.fullmatch(r'\d+\.\d+\.\d+', wanted):
        yield f'{PACKAGES[0]}: version {wanted} is not MAJOR.MINOR.PATCH'
    setup = (root / 'setup.py').read_text()
    if f"version='{wanted}'" not in setup:
        yield f'setup.py: its version is not {wanted}, that of {PACKAGES[0]}'
    for file in PACKAGES:
        package = ElementTree.parse(root / file).getroot()
        if package.findtext('version') != wanted:
            yield f'{file}: version {package.findtext("version")}, {PACKAGES[0]} has {wanted}'
        for maintainer in package.iter('maintainer'):
            address = str(maintainer.get('email'))
            if RESERVED.search(address.lower()):
                yield (
                    f'{file}: no mail reaches {address}; name a maintainer who reads theirs, '
                    'there and in setup.py'
                )
            if f"'{address}'" not in setup:
                yield f'setup.py: does not name {address}, the maintainer of {file}'


def _of_the_texts(root: Path) -> Iterator[str]:
    heading = re.search(r'^## (.*)$', (root / 'CHANGELOG.md').read_text(), re.MULTILINE)
    wanted = version(root)
    if heading is None or not re.fullmatch(
        rf'{re.escape(wanted)} \(\d{{4}}-\d\d-\d\d\)', heading[1]
    ):
        found = heading[1] if heading else 'nothing'
        yield f'CHANGELOG.md: begins with "{found}", not with "{wanted} (YYYY-MM-DD)"'
    for file in (*TEXTS, *PACKAGES, 'setup.py'):
        for number, line in enumerate((root / file).read_text().splitlines(), 1):
            if 'placeholder' in line:
                yield f'{file}:{number}: still calls the address of the maintainers a placeholder'


def of_the_installers(root: Path = ROOT) -> Iterator[str]:
    """Yield what differs between the files that install and check it."""
    wanted = version(root)
    for file, key in (('pixi.toml', "version = '{}'"), ('CITATION.cff', 'version: {}')):
        if key.format(wanted) not in (root / file).read_text().splitlines():
            yield f'{file}: its version is not {wanted}, that of {PACKAGES[0]}'
    phony = re.search(r'^\.PHONY: (.*)$', (root / 'Makefile').read_text(), re.MULTILINE)
    targets = set(phony[1].split()) if phony else set()
    for file in CALLERS:
        text = '\n'.join(
            line for line in (root / file).read_text().splitlines() if not line.startswith('#')
        )
        for target in re.findall(r'\bmake(?: |", ")([a-z]+)\b', text):
            if target not in targets:
                yield f'{file}: make {target} is no target of the Makefile'
        for script in re.findall(r'tools/\w+\.py', text):
            if not (root / script).is_file():
                yield f'{file}: {script} does not exist'
    package = ElementTree.parse(root / PACKAGES[0]).getroot()
    described = root / str(package.findtext('export/rosdoc2'))
    if not described.is_file():
        yield f'{PACKAGES[0]}: its export names no rosdoc2 file that exists'
    else:
        for folder in re.findall(r"sphinx_sourcedir: '(.*)'", described.read_text()):
            if not (root / folder / 'conf.py').is_file():
                yield f'{described.name}: {folder}/conf.py does not exist'
    pixi = (root / 'pixi.toml').read_text()
    for key in sorted({str(tag.text) for tag in package.iter('exec_depend')}):
        if key.startswith('python3-') or key in ('pinocchio', 'robot_id_msgs'):
            continue
        for distro in re.findall(r'^\[feature\.(\w+)\]$', pixi, re.MULTILINE):
            if f'ros-{distro}-{key.replace("_", "-")} =' not in pixi:
                yield f'pixi.toml: feature {distro} lacks {key}, which {PACKAGES[0]} needs'


def notes(root: Path = ROOT) -> str:
    """Return what CHANGELOG.md says of the version."""
    text = (root / 'CHANGELOG.md').read_text()
    found = re.search(rf'^## {re.escape(version(root))}\b.*?(?=^## |\Z)', text, re.M | re.S)
    return found[0].strip() if found else ''


def _of_git(root: Path) -> Iterator[str]:
    changed = subprocess.run(
        ['git', 'status', '--porcelain'], cwd=root, capture_output=True, text=True
    )
    if changed.returncode:
        yield f'git: {changed.stderr.strip().splitlines()[-1]}'
    elif changed.stdout:
        yield f'git: {len(changed.stdout.splitlines())} files are not committed'


def main() -> int:
    """Print the obstacles, 1 if there are any; or the release notes."""
    if sys.argv[1:] == ['--notes']:
        print(notes())
        return 0 if notes() else 1
    found = list(obstacles())
    for line in found:
        print(f'release: {line}', file=sys.stderr)
    if not found:
        print(f'release: {version()} can be tagged')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
