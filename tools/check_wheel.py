"""
Build the wheel, install it in a fresh venv without ROS, and run README's first commands there.

Usage: python3 tools/check_wheel.py [PYTHON]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.manual.blocks import blocks_of  # noqa: E402


def first_commands() -> list[list[str]]:
    """Return the commands of the README that are run."""
    blocks = [one for one in blocks_of(ROOT / 'README.md') if one.what == 'run']
    return [line.split() for one in blocks if one.kind == 'sh' for line in one.text.splitlines()]


def main() -> None:
    """Exit with the code of the first command that fails."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    # What a ROS or another environment left in this shell stays outside.
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(('ROS', 'AMENT', 'PYTHON', 'COLCON', 'LD_LIBRARY'))
    }

    with tempfile.TemporaryDirectory() as folder:

        def run(*command: str) -> None:
            print('wheel:', *command, flush=True)
            done = subprocess.run(command, cwd=folder, env=clean, check=False)
            if done.returncode:
                sys.exit(f'wheel: {command[0]} failed with {done.returncode}')

        pip = [f'{folder}/venv/bin/python', '-m', 'pip', '--disable-pip-version-check']
        run(python, '-m', 'venv', 'venv')
        run(
            *pip, 'wheel', '--use-pep517', '--quiet', '--no-deps', '--wheel-dir', 'dist', str(ROOT)
        )
        (wheel,) = Path(folder, 'dist').glob('*.whl')
        lock = str(ROOT / 'requirements' / 'lock.txt')
        run(*pip, 'install', '--quiet', '-c', lock, str(wheel))
        for command in first_commands():
            run(f'{folder}/venv/bin/{Path(command[0]).name}', *command[1:])
        print("wheel: README's first commands work")


if __name__ == '__main__':
    main()
