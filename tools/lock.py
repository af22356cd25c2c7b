"""
Rewrite requirements/lock.txt: every transitive version, for each Python that is named.

Usage: python3 tools/lock.py python3.10 python3.11 python3.12 python3.13 python3.14
Versions of the present lock are kept where they still fit; with --upgrade they are not. A Python
of the present lock that is not named, such as one that this machine has not, keeps its lines.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[1] / 'requirements'
LOCK = REQUIREMENTS / 'lock.txt'
HEADER = """\
# Every package of .venv with its version, for CPython {first} to {last}.
# Written by tools/lock.py from the *.in files beside it; do not edit by hand.
"""


def resolve(python: str, constraints: Path | None) -> tuple[str, dict[str, str]]:
    """Return the version of an interpreter and the versions of all packages for it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, '-m', 'venv', f'{folder}/venv'], check=True)
        pip = [f'{folder}/venv/bin/python', '-m', 'pip', 'install', '--quiet']
        subprocess.run([*pip, '--upgrade', 'pip'], check=True)
        command = [*pip, '--dry-run', '--ignore-installed', '--report', f'{folder}/report.json']
        for path in sorted(REQUIREMENTS.glob('*.in')):
            command += ['-r', str(path)]
        if constraints:
            command += ['-c', str(constraints)]
        subprocess.run(command, check=True)
        report = json.loads(Path(folder, 'report.json').read_text())
    version = '.'.join(report['environment']['python_full_version'].split('.')[:2])
    found = {
        re.sub(r'[-_.]+', '-', entry['metadata']['name']).lower(): entry['metadata']['version']
        for entry in report['install']
    }
    return version, found


def present(text: str) -> dict[str, dict[str, str]]:
    """Return what a lock says: for each Python of its first line, the version of each package."""
    first, last = (int(minor) for minor in re.findall(r'3\.(\d+)', text.splitlines()[0]))
    found: dict[str, dict[str, str]] = {f'3.{minor}': {} for minor in range(first, last + 1)}
    for line in text.splitlines():
        if line.startswith('#') or '==' not in line:
            continue
        pinned, _, marker = line.partition(' ; ')
        name, version = pinned.split('==')
        for python in re.findall(r"'(3\.\d+)'", marker) or found:
            found[python][name] = version
    return found


def merge(found: dict[str, dict[str, str]]) -> list[str]:
    """Return the lines of the lock; a version that is not for all Pythons gets a marker."""
    lines = []
    for name in sorted(set().union(*found.values())):
        versions: dict[str, list[str]] = {}
        for python in found:
            if name in found[python]:
                versions.setdefault(found[python][name], []).append(python)
        for version, pythons in versions.items():
            marker = ' or '.join(f"python_version == '{python}'" for python in pythons)
            everywhere = len(pythons) == len(found)
            lines.append(f'{name}=={version}' + ('' if everywhere else f' ; {marker}'))
    return lines


def main() -> None:
    """Resolve for each interpreter of the command line and write the lock."""
    pythons = [argument for argument in sys.argv[1:] if argument != '--upgrade']
    if not pythons:
        sys.exit(__doc__.strip())
    constraints = None if '--upgrade' in sys.argv or not LOCK.exists() else LOCK
    found = present(LOCK.read_text()) if LOCK.exists() else {}
    found |= dict(resolve(python, constraints) for python in pythons)
    order = sorted(found, key=lambda version: [int(part) for part in version.split('.')])
    lines = merge({version: found[version] for version in order})
    LOCK.write_text(HEADER.format(first=order[0], last=order[-1]) + '\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
