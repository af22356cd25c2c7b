"""
Run pytest; what failed and is marked as needing time runs once more, alone.

Usage: python tools/run_tests.py [PYTEST ARGUMENT ...]

Tests on real processes (marker real_processes) may fail on a machine that is busy: they get a
second chance and are named in the closing lines. Nothing else does. A run that was interrupted,
crashed or ended without a report is red, whatever its tests said. Exit code 0 means green.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from failure_list import VARIABLE

# Exit codes of pytest: all passed, some failed.
PASSED, FAILED = 0, 1


def pytest_run(arguments: list[str]) -> tuple[int, dict[str, Any] | None]:
    """Run pytest once; return its exit code and its report, None when it left none."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'failures.json'
        tools = str(Path(__file__).parent)
        path = os.pathsep.join(filter(None, (tools, os.environ.get('PYTHONPATH'))))
        process = subprocess.run(
            [sys.executable, '-m', 'pytest', '-p', 'failure_list', *arguments],
            env={**os.environ, VARIABLE: str(report), 'PYTHONPATH': path},
        )
        if not report.exists():
            return process.returncode, None
        return process.returncode, json.loads(report.read_text())


def main(arguments: list[str]) -> int:
    """Return the exit code of the whole run."""
    code, report = pytest_run(arguments)
    if report is None or code not in (PASSED, FAILED) or report['code'] != code:
        return _end('aborted', f'pytest ended with {code} before it was done', 2)
    failed = report['failed']
    if code == PASSED:
        return _end('passed', '', 0)
    final = [name for name, about in failed.items() if not about['needs_time']]
    if final or not failed:
        return _end('failed', _names(final), 1)
    print(f'test: {len(failed)} on real processes failed; once more, alone:', flush=True)
    code, again = pytest_run(['-n', '0', *failed])
    if code != PASSED or again is None:
        return _end('failed', _names(list(again['failed'] if again else failed)), 1)
    return _end('passed', f'at the second attempt: {_names(list(failed))}', 0)


def _names(names: list[str]) -> str:
    return ', '.join(names)


def _end(verdict: str, text: str, code: int) -> int:
    # A run that died may have left a line open.
    print(f'\ntest: {verdict}{": " if text else ""}{text}', flush=True)
    return code


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
