"""The steps of the set-up; each runs only when what it rests on has changed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import colcon
import packages
from command import run
from hook import missing
from machine import SetupError, check
from ros import Ros, choose, to_remember

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / '.venv'
STATE = VENV / 'setup.json'
REMEMBERED = VENV / 'robot_id_environment.json'
FORMAT = 1
NO_BYTECODE = ('PYTHONDONTWRITEBYTECODE', 'PYTHONPYCACHEPREFIX')
Step = Callable[[Path, Ros, dict[str, str]], None]
_noting = threading.Lock()


def main() -> None:
    """Bring .venv up to date; a machine that lacks something gets one line and exit code 1."""
    try:
        with _alone():
            changed = set_up()
    except SetupError as error:
        sys.exit(f'setup: {error}')
    except KeyboardInterrupt:
        sys.exit('setup: interrupted; run it again, steps that were done are kept')
    print(
        'setup: done, try .venv/bin/robot-id --help' if changed else 'setup: .venv is up to date'
    )


def set_up() -> bool:
    """Run the steps that are due and tell whether there were any."""
    # One interpreter has several names (python3, python3.11), and they must not count as two.
    python = os.path.realpath(getattr(sys, '_base_executable', sys.executable))
    state = _read(STATE)
    ros, environment = _choose(python, state)
    changed = False

    def due(name: str, digest: str, step: Step) -> None:
        nonlocal changed, state
        if state.get(name) == digest:
            return
        changed = True
        if name == 'environment':
            state = _prepare(python, ros, state, digest)
        step(VENV, ros, environment)
        with _noting:
            state[name] = digest
            state['ros'] = {'distro': ros.distro, 'sourced': ros.sourced, 'prefixes': ros.prefixes}
            STATE.write_text(json.dumps(state, indent=1) + '\n')

    due('environment', _environment_digest(python, ros), _install)
    due('hook', _files_digest('tools/setup/hook.py'), _install_hook)
    # The kernels need the packages only: they are compiled while colcon generates the messages.
    with ThreadPoolExecutor(1) as beside:
        kernels = beside.submit(due, 'kernels', _kernels_digest(), _compile_kernels)
        due('messages', _files_digest('robot_id_msgs'), colcon.build_messages)
        controllers = _files_digest('tools/control_msgs', 'tools/setup/colcon.py')
        due('controller_messages', controllers, colcon.build_controller_messages)
        due('package', _package_digest(), colcon.build_package)
        kernels.result()
    return changed


def _choose(python: str, state: dict) -> tuple[Ros, dict[str, str]]:
    """Return the ROS to use and its variables: the sourced one, the one .venv has, the wheels."""
    environment = dict(os.environ)
    ros = choose(python, VENV)
    known = state.get('ros')
    if (
        not ros.sourced
        and known
        and known['sourced']
        and all(map(os.path.isdir, known['prefixes']))
    ):
        environment.update(missing(environment, _read(REMEMBERED)))
        ros = Ros(known['distro'], True, tuple(known['prefixes']))
    return ros, environment


def _prepare(python: str, ros: Ros, state: dict, digest: str) -> dict:
    """Make an empty .venv unless the present one differs in its packages only."""
    check(wheels=not ros.sourced)
    place = digest.split()[0]
    if state.get('environment', '').split()[:1] == [place]:
        return state
    print(f'setup: .venv with Python {platform.python_version()} and {ros}', flush=True)
    if VENV.exists():
        shutil.rmtree(VENV)
    packages.create(VENV, python, ros)
    return {}


def _install(venv: Path, ros: Ros, environment: dict[str, str]) -> None:
    if ros.sourced:
        packages.install_missing(venv, environment)
    else:
        packages.install_locked(venv)
    packages.link_sources(venv, ROOT)
    _install_hook(venv, ros, environment)


def _install_hook(venv: Path, ros: Ros, environment: dict[str, str]) -> None:
    REMEMBERED.write_text(json.dumps(to_remember(ros, venv, environment), indent=1) + '\n')
    site = packages.site_packages(venv)
    shutil.copyfile(ROOT / 'tools/setup/hook.py', site / 'robot_id_environment.py')
    # Its name sorts before the hook of the wheels, which then finds nothing left to do.
    (site / 'robot_id_environment.pth').write_text('import robot_id_environment\n')


def _compile_kernels(venv: Path, ros: Ros, environment: dict[str, str]) -> None:
    run(
        'compiled kernels and bytecode (1 to 2 minutes)',
        [str(venv / 'bin/python'), 'tools/compile_kernels.py'],
        venv / 'log/kernels.log',
        # What is imported leaves its bytecode behind, whatever this shell wants for itself.
        {key: value for key, value in environment.items() if key not in NO_BYTECODE},
        ROOT,
    )


def _kernels_digest() -> str:
    """Return the digest of all files with compiled functions; friction terms are some too."""
    files = sorted((ROOT / 'robot_id').rglob('*.py'))
    compiled = [str(f.relative_to(ROOT)) for f in files if b'njit(' in f.read_bytes()]
    terms = sorted((ROOT / 'robot_id/robot/friction').glob('*.py'))
    compiled += [str(f.relative_to(ROOT)) for f in terms]
    return _files_digest('requirements', *compiled)


def _environment_digest(python: str, ros: Ros) -> str:
    """Return 'place packages': a new place needs a new .venv, new packages only pip."""
    place = [FORMAT, python, platform.python_version(), str(VENV), ros.sourced, ros.distro]
    place += ros.prefixes[-1:]
    return f'{_digest(repr(place).encode())} {_files_digest("requirements")}'


def _package_digest() -> str:
    """Return the digest of what colcon copies or links: names of data files, not their content."""
    names = [
        str(path.relative_to(ROOT))
        for folder in ('launch', 'config', 'urdf')
        for path in sorted((ROOT / folder).rglob('*'))
        if path.is_file() and '__pycache__' not in path.parts
    ]
    return _digest('\n'.join(names).encode()) + _files_digest(
        'setup.py', 'setup.cfg', 'package.xml', 'resource'
    )


def _files_digest(*names: str) -> str:
    """Return the digest of files and of everything below folders."""
    content = []
    for name in names:
        path = ROOT / name
        for file in sorted(path.rglob('*')) if path.is_dir() else [path]:
            if file.is_file():
                content.append(f'{file.relative_to(ROOT)}\n'.encode() + file.read_bytes())
    return _digest(b'\0'.join(content))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


def _read(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


@contextmanager
def _alone():
    """Let a second set-up in the same clone wait for the first."""
    folder = os.open(Path(__file__).parent, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print('setup: waiting for another set-up in this folder', flush=True)
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
