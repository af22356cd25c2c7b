"""What the machine must have before anything is installed."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path


class SetupError(Exception):
    """Something is missing on the machine; the message says in one line how to get it."""


def check(wheels: bool) -> None:
    """
    Refuse a machine on which the set-up cannot end well, naming all that is missing at once.

    :param wheels: ROS 2 comes from wheels, which exist for glibc Linux on x86-64 only.
    """
    if wheels:
        _check_platform()
    missing = [
        *_missing_venv(),
        *_missing_compiler(),
        *_missing_headers(),
    ]
    if missing:
        what = ' and '.join(name for name, _ in missing)
        packages = ' '.join(package for _, package in missing)
        raise SetupError(
            f'missing {what}; on Debian or Ubuntu: sudo apt install {packages} '
            '(elsewhere the packages of the same purpose)'
        )


def find_compiler() -> list[str] | None:
    """Return the C++ compiler as CMake would choose it, or None."""
    chosen = os.environ.get('CXX')
    if chosen:
        words = shlex.split(chosen)
        return words if words and shutil.which(words[0]) else None
    for name in ('c++', 'g++', 'clang++'):
        if shutil.which(name):
            return [name]
    return None


def _check_platform() -> None:
    system, machine = platform.system(), platform.machine()
    if system != 'Linux' or machine not in ('x86_64', 'AMD64'):
        raise SetupError(
            f'the ROS 2 wheels exist for Linux on x86-64, this is {system} on {machine}; '
            'source a ROS 2 installation (Jazzy or newer) and run make again'
        )
    library, version = platform.libc_ver()
    if library != 'glibc' or tuple(map(int, version.split('.')[:2])) < (2, 28):
        raise SetupError(
            f'the ROS 2 wheels need glibc 2.28 or newer, this machine has {library or "none"} '
            f'{version}; source a ROS 2 installation (Jazzy or newer) and run make again'
        )


def _missing_venv() -> list[tuple[str, str]]:
    if importlib.util.find_spec('venv') and importlib.util.find_spec('ensurepip'):
        return []
    return [(f'the venv module of {sys.executable}', 'python3-venv')]


def _missing_compiler() -> list[tuple[str, str]]:
    compiler = find_compiler()
    if compiler is None:
        chosen = os.environ.get('CXX')
        return [(f'the C++ compiler CXX={chosen}' if chosen else 'a C++ compiler', 'g++')]
    source = '#include <string>\nint main() { return std::string("x").size() - 1; }\n'
    works = subprocess.run(
        [*compiler, '-x', 'c++', '-fsyntax-only', '-'],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    if works.returncode:
        return [(f'a working C++ compiler ({compiler[0]} cannot compile)', 'g++')]
    if os.environ.get('CC') is None and not any(map(shutil.which, ('cc', 'gcc', 'clang'))):
        return [('a C compiler', 'gcc')]
    return []


def _missing_headers() -> list[tuple[str, str]]:
    include = Path(sysconfig.get_paths()['include'])
    if (include / 'Python.h').is_file():
        return []
    version = f'{sys.version_info[0]}.{sys.version_info[1]}'
    return [(f'the headers of Python {version} ({include}/Python.h)', f'python{version}-dev')]
